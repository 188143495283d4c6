/*
 * The calls that the program makes of the simulation instead: __wrap_NAME for each NAME in
 * meson.build.  And what of the simulation nobody else needs.
 */
#pragma once

#include <libwebsockets.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

struct rt_machine;
struct rt_ring;
struct rt_core_plan;
struct provenance;
struct run;
struct rt_frame;
struct rt_schedule;
struct sim;
struct sim_record_act;
struct sim_snapshot;
struct io_uring;
struct io_uring_cqe;
struct io_uring_params;
struct io_uring_probe;

/* the simulation */
void threads_signal(int number); /* Context: events. */
void invariants_release(void);   /* the frame thread waits for its next release */
void workload_stall_frame(void); /* and may be kept from it */

/* threads.c */
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_join(pthread_t id, void **result);
pthread_t __wrap_pthread_self(void);
int __wrap_pthread_setname_np(pthread_t id, const char *name);
int __wrap_pthread_getattr_np(pthread_t id, pthread_attr_t *attributes);
int __wrap_pthread_attr_getstack(const pthread_attr_t *attributes, void **stack, size_t *size);
int __wrap_pthread_setschedparam(pthread_t id, int policy, const struct sched_param *param);
int __wrap_pthread_getschedparam(pthread_t id, int *policy, struct sched_param *param);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_sem_wait(sem_t *semaphore);
int __wrap_sem_post(sem_t *semaphore);
int __real_sem_post(sem_t *semaphore);
int __wrap_sem_timedwait(sem_t *semaphore, const struct timespec *until);
int __wrap_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
void *__wrap_rt_ring_claim(struct rt_ring *ring);
void *__real_rt_ring_claim(struct rt_ring *ring);
void __wrap_rt_ring_push(struct rt_ring *ring);
void __real_rt_ring_push(struct rt_ring *ring);
const void *__wrap_rt_ring_front(struct rt_ring *ring);
const void *__real_rt_ring_front(struct rt_ring *ring);
void __wrap_rt_ring_pop(struct rt_ring *ring);
void __real_rt_ring_pop(struct rt_ring *ring);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_usleep(useconds_t us);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *rest);
_Noreturn void __wrap__exit(int code);

/* machine.c */
void __wrap_rt_machine_read(struct rt_machine *machine);
bool __wrap_rt_lock_memory(char *reason);
int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
pid_t __wrap_getpid(void);
int __wrap_getpriority(int which, id_t who);
int __wrap_setpriority(int which, id_t who, int priority);
int __wrap_sigaltstack(const stack_t *stack, stack_t *before);
int __wrap_getrusage(int who, struct rusage *usage);
void __wrap_provenance_collect(struct provenance *provenance, const struct run *run);
char *__wrap_doctor_findings_json(const struct rt_machine *machine, const struct rt_core_plan *plan,
                                  double seconds);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__real_fopen64(const char *path, const char *mode);

/* memory.c */
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_rt_alloc_watch(void);
void __wrap_rt_alloc_unwatch(void);

/* disk.c */
int __wrap_open64(const char *path, int flags, ...);
int __wrap_close(int fd);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t at);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate64(int fd, off_t size);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
int __wrap_stat64(const char *path, struct stat *status);
int __wrap_lstat64(const char *path, struct stat *status);
int __wrap_fstat64(int fd, struct stat *status);
int __wrap_flock(int fd, int what);

/* uring.c */
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __wrap_io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
                                      struct io_uring_params *params);
struct io_uring_probe *__wrap_io_uring_get_probe_ring(struct io_uring *ring);
void __wrap_io_uring_free_probe(struct io_uring_probe *probe);
int __wrap_io_uring_submit(struct io_uring *ring);
int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                              unsigned wait_nr, sigset_t *mask);
void __wrap_io_uring_queue_exit(struct io_uring *ring);

/* sockets.c */
int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_listen(int fd, int backlog);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_fcntl64(int fd, int command, ...);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags);
int __wrap_shutdown(int fd, int how);
bool sockets_close(int fd); /* false: not one of them */

/* watch.c: what the frame thread does, as the invariants want to know it */
void __wrap_rt_frame_run(struct rt_frame *frame);
void __real_rt_frame_run(struct rt_frame *frame);
void __wrap_rt_schedule_run(struct rt_schedule *schedule, uint64_t frame);
void __real_rt_schedule_run(struct rt_schedule *schedule, uint64_t frame);
void __wrap_sim_apply_act(struct sim *sim, struct sim_record_act *act,
                          const struct sim_snapshot *snapshot);
void __real_sim_apply_act(struct sim *sim, struct sim_record_act *act,
                          const struct sim_snapshot *snapshot);
void __wrap_sim_send_heartbeats(struct sim *sim, uint64_t releases);
void __real_sim_send_heartbeats(struct sim *sim, uint64_t releases);
