#pragma once

#include "partwise/base/error.h"
#include "partwise/tensors/tensor.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace partwise::tensors {

// Which of several processes this one is and where they meet, in torchrun's words.
struct RankPlace {
  int rank = 0;                    // RANK
  int count = 1;                   // WORLD_SIZE
  int local_rank = 0;              // LOCAL_RANK: among those of this machine
  int local_count = 1;             // LOCAL_WORLD_SIZE
  std::string host = "127.0.0.1";  // MASTER_ADDR
  int port = 0;                    // MASTER_PORT
  std::string agent_attempt;       // torchrun keeps the meeting place itself: its attempt's number
};

// One process where WORLD_SIZE is not set; an Error names what is missing or impossible.
RankPlace rank_place_from_environment();

// An Error where this build cannot run several ranks on such a device.
void require_ranks(const std::string& device);

// "cuda" stands for the rank's own device of this machine.
std::string device_of_rank(const std::string& device, const RankPlace& place);

// A TCP port of this machine that nobody listens on.
int free_port();

// The rows of a batch that one rank works on.
struct Share {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t rows() const { return end - begin; }
};

// Another rank ended, or did not answer in time.
class LostRank : public Error {
 public:
  using Error::Error;
};

// Several processes that work on every batch together (c10d: NCCL for CUDA, Gloo otherwise). All
// must ask for the same things in the same order; what comes back is bit for bit the same on all of
// them and carries no gradient. A copy is the same group. By itself a process gets back what it
// gave.
class Ranks {
 public:
  Ranks() = default;  // alone
  // Waits for the others; an Error if this build has no way to reach them. Any later wait that
  // takes longer than `patience`, or a connection that closes, is a LostRank.
  static Ranks join(const RankPlace& place,
                    const std::string& device,
                    std::chrono::seconds patience = std::chrono::minutes(10));

  int rank() const { return rank_; }
  int count() const { return count_; }
  bool alone() const { return count_ == 1; }
  bool leads() const { return rank_ == 0; }  // only the leader writes files and speaks

  // Consecutive shares, as even as can be.
  Share share(int64_t rows) const;

  Tensor sum(const Tensor& own) const;
  Tensor max(const Tensor& own) const;
  Tensor logsumexp(const Tensor& own) const;  // log of the sum of e^own; -inf counts as nothing
  // The rows of all ranks in order; `own` are those of share(rows).
  Tensor rows_of_all(const Tensor& own, int64_t rows) const;
  void take_from_leader(const Tensor& tensor) const;  // in place
  bool leaders(bool decision) const;
  std::string text_of_leader(const std::string& own) const;
  void meet() const;  // nobody goes on before all are here

  // Starts a sum; the returned function waits for it.
  std::function<Tensor()> start_sum(const Tensor& own) const;

 private:
  struct Group;

  std::shared_ptr<Group> group_;
  int rank_ = 0;
  int count_ = 1;
};

// Sums the gradients of all ranks while the backward pass is still running: parameters are taken
// together in buckets, and a bucket goes on its way as soon as its last gradient has arrived.
class GradientSum {
 public:
  // parameters: in the order of the forward pass, hence their gradients arrive in the opposite one.
  GradientSum(const Ranks& ranks,
              const std::vector<Tensor>& parameters,
              int64_t bucket_bytes = 25 << 20);

  // After the backward pass: waits; from here on every parameter's gradient is the sum over the
  // ranks. Alone: nothing.
  void finish();

  int64_t started() const;  // buckets on their way

 private:
  struct Buckets;
  std::shared_ptr<Buckets> buckets_;
};

}  // namespace partwise::tensors
