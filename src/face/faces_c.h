/*
 * faces_c.h — what the parameters in faces.h are in C. Included before a use of that list, which undefines them.
 */
#define IN      const void *
#define OUT     void *
#define INT     int
#define INTS    const int *
#define SIZE    int
#define SIZES   const int *
#define AINTS   const MPI_Aint *
#define TYPE    MPI_Datatype
#define TYPES   const MPI_Datatype *
#define OP      MPI_Op
#define COMM    MPI_Comm
#define REQUEST MPI_Request *
