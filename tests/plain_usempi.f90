! `use mpi` under the drop-in.
program plain_usempi
  use mpi
  implicit none
  integer :: request, ring
  integer, allocatable :: kinds(:)
  include 'plain_fortran.inc'
end program

subroutine meet()
  use mpi
  implicit none
  integer :: ierror
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
end subroutine
