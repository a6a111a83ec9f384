! `use mpi_f08` under the drop-in.
program plain_usempif08
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
  type(MPI_Comm) :: ring
  type(MPI_Datatype), allocatable :: kinds(:)
  include 'plain_fortran.inc'
end program

subroutine meet()
  use mpi_f08
  implicit none
  call MPI_Barrier(MPI_COMM_WORLD) ! without an error code
end subroutine
