/*
 * faces_fortran.h — what the parameters in faces.h and faces_messages.h are in Fortran, where all are addresses, and how the lists count bytes there. Included
 * before a use of such a list, which undefines all of it.
 */
#define IN                 void *
#define OUT                void *
#define INT                MPI_Fint *
#define INTS               MPI_Fint *
#define SIZE               MPI_Fint *
#define SIZES              MPI_Fint *
#define AINTS              MPI_Aint *
#define TYPE               MPI_Fint *
#define TYPES              MPI_Fint *
#define OP                 MPI_Fint *
#define COMM               MPI_Fint *
#define REQUEST            MPI_Fint *
#define STATUS             MPI_Fint *
#define FLAG               MPI_Fint *
#define TAKEN              MPI_Fint *
#define BYTES(count, type) pat_face_bytes(*count, PMPI_Type_f2c(*type))
#define GIVEN(number)      (*(number))

/* Arguments as a pat_args has them. */
#ifdef AS_ARGUMENTS
#define A_BUFFER(x) .x = pat_fortran_buffer(x)
#define A_COUNT(x)  .x = *x
#define A_COUNTS(x) .x = x
#define A_TYPE(x)   .x = PMPI_Type_f2c(*x)
#define A_OP(x)     .x = PMPI_Op_f2c(*x)
#define A_COMM(x)   .x = PMPI_Comm_f2c(*x)
#undef AS_ARGUMENTS
#endif
