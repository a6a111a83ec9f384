/*
 * faces_c.h — what the parameters in faces.h and faces_messages.h are in C, with LARGE defined in the forms with large counts, and what the lists ask of
 * arguments there. Included before a use of such a list, which undefines all of it.
 */
#define IN                 const void *
#define OUT                void *
#define INT                int
#define INTS               const int *
#define AINTS              const MPI_Aint *
#define TYPE               MPI_Datatype
#define TYPES              const MPI_Datatype *
#define OP                 MPI_Op
#define COMM               MPI_Comm
#define REQUEST            MPI_Request *
#define STATUS             MPI_Status *
#define FLAG               int *
#define TAKEN              MPI_Message *
#define IN_PLACE(buffer)   ((buffer) == MPI_IN_PLACE)
#define BYTES(count, type) pat_face_bytes(count, type)
#define GIVEN(number)      (number)
#ifndef LARGE
#define SIZE  int
#define SIZES const int *
#else
#define SIZE  MPI_Count
#define SIZES const MPI_Count *
#endif
