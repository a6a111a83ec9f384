! What plain_host.c loads: an all-gather and a sum, both in place, and a barrier.
subroutine guest(wrong)
  use mpi
  implicit none
  integer, intent(out) :: wrong
  integer, parameter :: n = 3000
  integer :: rank, ranks, ierror, step, r, total(n)
  integer, allocatable :: whole(:, :)

  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  allocate (whole(n, 0:ranks - 1))
  wrong = 0
  do step = 1, 5
    whole = -1
    whole(:, rank) = 100*step + rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, whole, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    do r = 0, ranks - 1
      if (any(whole(:, r) /= 100*step + r)) wrong = wrong + 1
    end do
    total = step + rank
    call MPI_Allreduce(MPI_IN_PLACE, total, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (any(total /= ranks*step + ranks*(ranks - 1)/2)) wrong = wrong + 1
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
end subroutine
