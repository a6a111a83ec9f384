! plain_late_fortran.F90 — at each place another rank is late by 60 ms. Prints for each place its line, the MPI function, who is late there
! and by how much in the mean.
#if PAT_MPI_HAS_PERSISTENT == 1
#define ALLREDUCE_INIT MPI_Allreduce_init
#define PLACES 7
#elif PAT_MPI_HAS_PERSISTENT
#define ALLREDUCE_INIT MPIX_Allreduce_init
#define PLACES 7
#else
#define PLACES 6
#endif
module lateness
  use mpi
  implicit none
  integer :: rank, num_ranks, calls = 4, request, own(16), all(16 * 64)
  double precision :: late_s(PLACES) = 0
contains
  subroutine be_late(place, who)
    integer, intent(in) :: place, who
    double precision :: start
    interface
      integer(c_int) function usleep(microseconds) bind(c)
        use iso_c_binding, only: c_int
        integer(c_int), value :: microseconds
      end function
    end interface
    start = MPI_Wtime()
    if (rank == mod(who, num_ranks)) then
      if (usleep(60000) /= 0) stop 1
      late_s(place) = late_s(place) + MPI_Wtime() - start
    end if
  end subroutine
#if PLACES == 7
  subroutine wait_for_persistent(line, who)
    integer, intent(out) :: line
    integer, intent(in) :: who
    integer :: kept(2), which, ierror
    call ALLREDUCE_INIT(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, kept(1), ierror)
    kept(2) = MPI_REQUEST_NULL
    call be_late(7, who); line = __LINE__ + 2
    call MPI_Start(kept(1), ierror)
    call MPI_Waitall(2, kept, MPI_STATUSES_IGNORE, ierror); call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Request_free(kept(1), ierror)
    call ALLREDUCE_INIT(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, kept(2), ierror)
    kept(1) = MPI_REQUEST_NULL
    call MPI_Start(kept(2), ierror)
    call MPI_Waitany(2, kept, which, MPI_STATUS_IGNORE, ierror)
    call MPI_Request_free(kept(2), ierror)
  end subroutine
#endif
end module

program plain_late
  use lateness
  implicit none
  integer :: i, ierror, line(7), who(7)
  double precision :: most
  character(len=13) :: names(7) = ['MPI_Allgather', 'MPI_Allreduce', 'MPI_Bcast    ', 'MPI_Barrier  ', 'MPI_Gather   ', &
    'MPI_Wait     ', 'MPI_Waitall  ']
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, ierror)
  own = rank
  who = [1, 2, 0, 3, 1, 2, 3]
  do i = 1, calls
    call be_late(1, who(1)); line(1) = __LINE__ + 1
    call MPI_Allgather(own, 16, MPI_INTEGER, all, 16, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call be_late(2, who(2)); line(2) = __LINE__ + 1
    call MPI_Allreduce(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call be_late(3, who(3)); line(3) = __LINE__ + 1
    call MPI_Bcast(own, 16, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call be_late(4, who(4)); line(4) = __LINE__ + 1
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call be_late(5, who(5)); line(5) = __LINE__ + 1
    call MPI_Gather(own, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
#if PLACES == 7
    call wait_for_persistent(line(7), who(7))
#endif
    call be_late(6, who(6)); line(6) = __LINE__ + 3
    call MPI_Iallreduce(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    ! At the end of the loop, and on one line: gfortran says of the first call that it is where the last one is.
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror); call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  do i = 1, PLACES
    call MPI_Reduce(late_s(i), most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(i0,1x,a,1x,i0,1x,f0.3)', line(i), trim(names(i)), mod(who(i), num_ranks), 1d3 * most / calls
  end do
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD, ierror) ! is not counted
  call MPI_Pcontrol(1)
  call MPI_Finalize(ierror)
end program
