/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For test_mpi.py: each rank says who it is and what all ranks sum up to. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char *argv[])
{
	char host[MPI_MAX_PROCESSOR_NAME];
	int rank, size, len, mine, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(host, &len);
	MPI_Barrier(MPI_COMM_WORLD);
	mine = 10 * (rank + 1);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d on %s: sum %d\n", rank, size, host, sum);
	MPI_Finalize();
	return 0;
}
