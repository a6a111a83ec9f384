! mpif.h under the drop-in.
program plain_mpifh
  implicit none
  include 'mpif.h'
  integer :: request, ring
  integer, allocatable :: kinds(:)
  include 'plain_fortran.inc'
end program

subroutine meet()
  implicit none
  include 'mpif.h'
  integer :: ierror
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
end subroutine
