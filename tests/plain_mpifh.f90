! mpif.h under the drop-in.
program plain_mpifh
  implicit none
  include 'mpif.h'
  include 'plain_fortran.inc'
end program
