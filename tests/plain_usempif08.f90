! `use mpi_f08` under the drop-in.
program plain_usempif08
  use mpi_f08
  implicit none
  include 'plain_fortran.inc'
end program
