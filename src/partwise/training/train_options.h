#pragma once

#include "partwise/base/options.h"
#include "partwise/models/task.h"
#include "partwise/networks/catalog.h"
#include "partwise/networks/pretrained.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/step_graph.h"
#include "partwise/training/early_stop.h"
#include "partwise/training/optimizer.h"

namespace partwise::training {

enum class InitScale { keep, unit };
enum class RateSchedule { cosine, constant, log, steps };
enum class ClassBalance { none, weights };

}  // namespace partwise::training

namespace partwise {

template <>
inline constexpr auto kWords<training::InitScale> = words("keep", "unit");
template <>
inline constexpr auto kWords<training::RateSchedule> = words("cosine", "constant", "log", "steps");
template <>
inline constexpr auto kWords<training::ClassBalance> = words("none", "weights");

}  // namespace partwise

namespace partwise::training {

struct TrainOptions {
  std::string net = "tiny";
  networks::Arm arm = networks::Arm::interpretable;
  std::string task = "multi";
  models::Loss loss = models::Loss::softmax;
  std::string init;
  networks::InputConvention init_input = networks::InputConvention::automatic;
  InitScale init_scale = InitScale::keep;
  UpdateRule optimizer = UpdateRule::adamw;
  int64_t epochs = 12;
  int64_t batch = 32;
  double learning_rate = 2e-3;
  double backbone_rate = 1.0;
  std::string rates;
  RateSchedule rate_schedule = RateSchedule::cosine;
  double rate_end = 0.1;
  int64_t rate_epochs = 0;
  double weight_decay = 0.02;
  double warmup = 0.05;
  double gradient_limit = 5.0;
  ClassBalance class_balance = ClassBalance::none;
  int64_t positives = 0;
  int64_t negatives = 0;
  int64_t hidden = 0;
  double dropout = -1.0;
  int64_t jitter = 6;
  double zoom = 0.0;
  double colour = 0.0;
  tensors::Precision precision = tensors::Precision::tf32;
  tensors::Replay replay = tensors::Replay::on;
  int64_t validation_images = 0;
  StopMetric stop_on = StopMetric::none;
  int64_t patience = 5;
  double checkpoint_minutes = 10.0;
  int64_t seed = 1;

  static auto fields() {
    using Word = Field<TrainOptions, std::string>;
    using Count = Field<TrainOptions, int64_t>;
    using Number = Field<TrainOptions, double>;
    return std::tuple{
        Word{"net", &TrainOptions::net, "backbone", networks::network_names()},
        Field{"arm", &TrainOptions::arm, "which of the four networks"},
        Word{"task", &TrainOptions::task, "multi, or binary:CATEGORY", {}},
        Field{"loss", &TrainOptions::loss, "task loss"},
        Word{"init",
             &TrainOptions::init,
             "backbone weights to start from: a run folder, .safetensors, .pth or .mat",
             {}},
        Field{"init_input", &TrainOptions::init_input,
              "what those weights were trained to see (see docs/networks.md)"},
        Field{"init_scale", &TrainOptions::init_scale,
              "unit of the features they give: theirs, or root mean square 1 on training images"},
        Field{"optimizer", &TrainOptions::optimizer, "update rule"},
        Count{"epochs", &TrainOptions::epochs, "passes over the training images", 1, 100'000},
        Count{"batch", &TrainOptions::batch, "images per step", 1, 65'536},
        Number{"learning_rate", &TrainOptions::learning_rate, "at its highest", 0.0, 100.0},
        Number{"backbone_rate", &TrainOptions::backbone_rate,
               "of the backbone's layers, as a multiple (0: frozen)", 0.0, 100.0},
        Word{"rates",
             &TrainOptions::rates,
             "multiples by name, the last that fits counts: 'new=10, fc*=10, *.bias=2'",
             {}},
        Field{"rate_schedule", &TrainOptions::rate_schedule,
              "of the learning rate: down to 0, as it is, or by rate_end (see docs/training.md)"},
        Number{"rate_end", &TrainOptions::rate_end,
               "log: the last rate, steps: each step, as a multiple", 1e-9, 1.0},
        Count{"rate_epochs", &TrainOptions::rate_epochs,
              "log: epochs until the last rate, steps: epochs per step (0: all)", 0, 100'000},
        Number{"weight_decay", &TrainOptions::weight_decay, "of weights, not biases", 0.0, 10.0},
        Number{"warmup", &TrainOptions::warmup, "share of the steps with a rising rate", 0.0, 1.0},
        Number{"gradient_limit", &TrainOptions::gradient_limit, "largest norm of a step's gradient",
               1e-6, 1e12},
        Field{"class_balance", &TrainOptions::class_balance,
              "images by number, or weights in the loss that let every class count the same"},
        Count{"positives", &TrainOptions::positives,
              "images with objects per epoch, repeated or drawn (0: each once)", 0, 100'000'000},
        Count{"negatives", &TrainOptions::negatives, "images without objects per epoch, likewise",
              0, 100'000'000},
        Count{"hidden", &TrainOptions::hidden,
              "width of the fully connected layers (0: the net's own)", 0, 65'536},
        Number{"dropout", &TrainOptions::dropout,
               "share of the hidden units dropped in training (-1: the net's own)", -1.0, 0.99},
        Count{"jitter", &TrainOptions::jitter, "largest random shift of a crop, px", 0, 64},
        Number{"zoom", &TrainOptions::zoom, "largest random change of a crop's scale, share", 0.0,
               0.5},
        Number{"colour", &TrainOptions::colour,
               "largest random change of brightness, contrast and saturation, share", 0.0, 1.0},
        Field{"precision", &TrainOptions::precision,
              "of products (tf32, bf16: faster on a GPU; on a CPU tf32 is float32)"},
        Field{"replay", &TrainOptions::replay,
              "record a GPU's steps once and replay them; the CPU has nothing to record"},
        Count{
            "validation_images", &TrainOptions::validation_images,
            "images to measure on after each epoch: of split validation or val, else taken out of "
            "train (0: none)",
            0, 1'000'000},
        Field{"stop_on", &TrainOptions::stop_on, "stop early when this stops improving there"},
        Count{"patience", &TrainOptions::patience, "epochs without improvement before stopping", 1,
              100'000},
        Number{"checkpoint_minutes", &TrainOptions::checkpoint_minutes,
               "longest time between checkpoints, also inside an epoch", 0.0, 1e6},
        Count{"seed", &TrainOptions::seed, "everything follows from it", 0},
    };
  }
};

}  // namespace partwise::training
