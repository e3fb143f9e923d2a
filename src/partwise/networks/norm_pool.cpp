#include "partwise/networks/norm_pool.h"

#include "partwise/networks/shared_batch.h"
#include "partwise/tensors/torch.h"
#include "partwise/tensors/torch_threads.h"

#include <cmath>

// These loops are compiled once per kind of processor; which of them runs is chosen at the start.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PARTWISE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PARTWISE_WIDE
#endif

namespace partwise::networks {
namespace {

constexpr uint8_t kNone = 4;  // of the four cells of a window: ReLU lets no gradient pass

// One channel of one image is a plane of side x side values; out: of the result's.
struct Planes {
  int64_t rows;
  int64_t channels;
  int64_t side;
  int64_t out;

  int64_t at(int64_t row, int64_t channel) const { return row * channels + channel; }
  int64_t cells() const { return side * side; }
};

constexpr int64_t kLanes = 16;  // sums side by side, so that they fit vectors of any width

double sum_of(const float* lanes) {
  double sum = 0.0;
  for (int64_t i = 0; i < kLanes; ++i) sum += static_cast<double>(lanes[i]);
  return sum;
}

PARTWISE_WIDE double sum_of_plane(const float* values, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  for (; i < count; ++i) lanes[0] += values[i];
  return sum_of(lanes);
}

PARTWISE_WIDE double squares_of_plane(const float* values, int64_t count, float mean) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float d = values[i + lane] - mean;
      lanes[lane] += d * d;
    }
  }
  for (; i < count; ++i) lanes[0] += (values[i] - mean) * (values[i] - mean);
  return sum_of(lanes);
}

PARTWISE_WIDE void relu_plane(
    const float* __restrict x, int64_t count, float scale, float shift, float* __restrict y) {
  for (int64_t i = 0; i < count; ++i) {
    const float value = x[i] * scale + shift;
    y[i] = value < 0.0F ? 0.0F : value;  // what is not a number stays so
  }
}

// The result and which of the four cells it comes from, the first where several are equal.
PARTWISE_WIDE void pool_rows(const float* __restrict upper,
                             const float* __restrict lower,
                             int64_t out,
                             float scale,
                             float shift,
                             float* __restrict y,
                             uint8_t* __restrict from) {
  for (int64_t j = 0; j < out; ++j) {
    const float a = upper[2 * j] * scale + shift;
    const float b = upper[2 * j + 1] * scale + shift;
    const float c = lower[2 * j] * scale + shift;
    const float d = lower[2 * j + 1] * scale + shift;
    const float top = b > a ? b : a;
    const float bottom = d > c ? d : c;
    const int32_t top_at = b > a ? 1 : 0;
    const int32_t bottom_at = d > c ? 3 : 2;
    const float most = bottom > top ? bottom : top;
    const int32_t at = bottom > top ? bottom_at : top_at;
    y[j] = most < 0.0F ? 0.0F : most;
    from[j] = static_cast<uint8_t>(most > 0.0F ? at : int32_t{kNone});
  }
}

struct Sums {
  double given = 0.0;     // of the gradient g
  double products = 0.0;  // of g (x - mean)
};

PARTWISE_WIDE Sums
gradient_sums(const float* x, const float* y, const float* given, int64_t count, float mean) {
  float sums[kLanes] = {};
  float products[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float g = y[i + lane] > 0.0F ? given[i + lane] : 0.0F;
      sums[lane] += g;
      products[lane] += g * (x[i + lane] - mean);
    }
  }
  for (; i < count; ++i) {
    const float g = y[i] > 0.0F ? given[i] : 0.0F;
    sums[0] += g;
    products[0] += g * (x[i] - mean);
  }
  return {sum_of(sums), sum_of(products)};
}

PARTWISE_WIDE void pooled_gradient_sums(const float* __restrict upper,
                                        const float* __restrict lower,
                                        const uint8_t* __restrict from,
                                        const float* __restrict given,
                                        int64_t out,
                                        float mean,
                                        float* __restrict sums,
                                        float* __restrict products) {
  const auto add = [&](int64_t j, int64_t lane) {
    const int32_t at = from[j];
    const float top = at == 1 ? upper[2 * j + 1] : upper[2 * j];
    const float bottom = at == 3 ? lower[2 * j + 1] : lower[2 * j];
    const float x = at >= 2 ? bottom : top;
    const float g = at == kNone ? 0.0F : given[j];
    sums[lane] += g;
    products[lane] += g * (x - mean);
  };
  int64_t j = 0;
  for (; j + kLanes <= out; j += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) add(j + lane, lane);
  for (; j < out; ++j) add(j, j % kLanes);
}

// dx = scale (g - offset - (x - mean) slope)
struct Backward {
  float scale;
  float mean;
  float offset;
  float slope;

  float operator()(float g, float x) const { return scale * (g - offset - (x - mean) * slope); }
};

PARTWISE_WIDE void relu_backward_plane(const float* __restrict x,
                                       const float* __restrict y,
                                       const float* __restrict given,
                                       int64_t count,
                                       const Backward& backward,
                                       float* __restrict dx) {
  const auto [scale, mean, offset, slope] = backward;
  for (int64_t i = 0; i < count; ++i) {
    const float g = y[i] > 0.0F ? given[i] : 0.0F;
    dx[i] = scale * (g - offset - (x[i] - mean) * slope);
  }
}

// Both rows of the windows; first: the number of the row's first cell in a window, 0 or 2.
PARTWISE_WIDE void pool_backward_row(const float* __restrict x,
                                     const uint8_t* __restrict from,
                                     const float* __restrict given,
                                     int64_t out,
                                     int32_t first,
                                     const Backward& backward,
                                     float* __restrict dx) {
  const auto [scale, mean, offset, slope] = backward;
  for (int64_t j = 0; j < out; ++j) {
    const int32_t at = int32_t{from[j]} - first;
    const float left = at == 0 ? given[j] : 0.0F;
    const float right = at == 1 ? given[j] : 0.0F;
    dx[2 * j] = scale * (left - offset - (x[2 * j] - mean) * slope);
    dx[2 * j + 1] = scale * (right - offset - (x[2 * j + 1] - mean) * slope);
  }
}

// Channel by channel: the planes of one stay in the cache from pass to pass, and its sums are one
// thread's.
template <typename Body>
void for_channels(const Planes& planes, const Body& body) {
  tensors::in_parallel(planes.channels, 1, [&](int64_t first, int64_t last) {
    for (int64_t channel = first; channel < last; ++channel) body(channel);
  });
}

class NormReluPool : public torch::autograd::Function<NormReluPool> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context,
                        const Tensor& given,
                        const Tensor& weight,
                        const Tensor& bias,
                        const Tensor& running_mean,
                        const Tensor& running_variance,
                        bool pool) {
    const auto input = given.contiguous();
    const int64_t side = input.size(2);
    const Planes planes{input.size(0), input.size(1), side, pool ? side / 2 : side};
    auto output =
        torch::empty({planes.rows, planes.channels, planes.out, planes.out}, input.options());
    auto from = pool ? torch::empty(output.sizes(), torch::kUInt8) : Tensor();
    auto mean = torch::empty({planes.channels});
    auto inverse = torch::empty({planes.channels});
    const auto* x = input.data_ptr<float>();
    auto* y = output.data_ptr<float>();
    auto* at = pool ? from.data_ptr<uint8_t>() : nullptr;
    const double count = static_cast<double>(planes.rows * planes.cells());
    for_channels(planes, [&, means = mean.data_ptr<float>(), inverses = inverse.data_ptr<float>(),
                          weights = weight.data_ptr<float>(), biases = bias.data_ptr<float>(),
                          running_means = running_mean.data_ptr<float>(),
                          running_variances = running_variance.data_ptr<float>()](int64_t c) {
      double sum = 0.0;
      double squares = 0.0;
      for (int64_t row = 0; row < planes.rows; ++row)
        sum += sum_of_plane(x + planes.at(row, c) * planes.cells(), planes.cells());
      const auto centre = static_cast<float>(sum / count);
      for (int64_t row = 0; row < planes.rows; ++row)
        squares += squares_of_plane(x + planes.at(row, c) * planes.cells(), planes.cells(), centre);
      means[c] = centre;
      inverses[c] = static_cast<float>(1.0 / std::sqrt(squares / count + kNormEpsilon));
      const auto move = [](float& running, double now) {
        running = static_cast<float>((1.0 - kNormMemory) * static_cast<double>(running) +
                                     kNormMemory * now);
      };
      move(running_means[c], sum / count);
      move(running_variances[c], squares / (count - 1.0));
      const float scale = weights[c] * inverses[c];
      const float shift = biases[c] - centre * scale;
      for (int64_t row = 0; row < planes.rows; ++row) {
        const auto* plane = x + planes.at(row, c) * planes.cells();
        const int64_t begin = planes.at(row, c) * planes.out * planes.out;
        if (!pool) relu_plane(plane, planes.cells(), scale, shift, y + begin);
        for (int64_t i = 0; pool && i < planes.out; ++i) {
          const auto* upper = plane + 2 * i * side;
          const int64_t line = begin + i * planes.out;
          pool_rows(upper, upper + side, planes.out, scale, shift, y + line, at + line);
        }
      }
    });
    context->save_for_backward({input, weight, mean, inverse, pool ? from : output});
    context->saved_data["pool"] = pool;
    return output;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& [input, weight, mean, inverse, kept] =
        std::tie(saved[0], saved[1], saved[2], saved[3], saved[4]);
    const bool pool = context->saved_data["pool"].toBool();
    const auto given = gradients[0].contiguous();
    const Planes planes{input.size(0), input.size(1), input.size(2), given.size(2)};
    auto for_input = torch::empty_like(input);
    auto for_weight = torch::empty_like(weight);
    auto for_bias = torch::empty_like(weight);
    const bool edge = pool && planes.side % 2 == 1;
    const double count = static_cast<double>(planes.rows * planes.cells());
    const auto* x = input.data_ptr<float>();
    const auto* g = given.data_ptr<float>();
    auto* dx = for_input.data_ptr<float>();
    const auto* from = pool ? kept.data_ptr<uint8_t>() : nullptr;
    const auto* y = pool ? nullptr : kept.data_ptr<float>();
    for_channels(planes,
                 [&, means = mean.data_ptr<float>(), inverses = inverse.data_ptr<float>(),
                  weights = weight.data_ptr<float>(), for_weights = for_weight.data_ptr<float>(),
                  for_biases = for_bias.data_ptr<float>()](int64_t c) {
                   Sums sums;
                   for (int64_t row = 0; row < planes.rows; ++row) {
                     const int64_t in = planes.at(row, c) * planes.cells();
                     const int64_t out = planes.at(row, c) * planes.out * planes.out;
                     Sums own;
                     if (pool) {
                       float lanes[kLanes] = {};
                       float products[kLanes] = {};
                       for (int64_t i = 0; i < planes.out; ++i) {
                         const auto* upper = x + in + 2 * i * planes.side;
                         const int64_t line = out + i * planes.out;
                         pooled_gradient_sums(upper, upper + planes.side, from + line, g + line,
                                              planes.out, means[c], lanes, products);
                       }
                       own = {sum_of(lanes), sum_of(products)};
                     } else {
                       own = gradient_sums(x + in, y + in, g + in, planes.cells(), means[c]);
                     }
                     sums.given += own.given;
                     sums.products += own.products;
                   }
                   const double spread = static_cast<double>(inverses[c]);
                   for_weights[c] = static_cast<float>(sums.products * spread);
                   for_biases[c] = static_cast<float>(sums.given);
                   const Backward back{weights[c] * inverses[c], means[c],
                                       static_cast<float>(sums.given / count),
                                       static_cast<float>(sums.products * spread * spread / count)};
                   for (int64_t row = 0; row < planes.rows; ++row) {
                     const int64_t in = planes.at(row, c) * planes.cells();
                     const int64_t out = planes.at(row, c) * planes.out * planes.out;
                     if (!pool)
                       relu_backward_plane(x + in, y + in, g + in, planes.cells(), back, dx + in);
                     for (int64_t i = 0; pool && i < 2 * planes.out; ++i) {
                       const int64_t begin = in + i * planes.side;
                       const int64_t line = out + i / 2 * planes.out;
                       pool_backward_row(x + begin, from + line, g + line, planes.out,
                                         static_cast<int32_t>(2 * (i % 2)), back, dx + begin);
                     }
                     for (int64_t i = 0; edge && i < planes.side; ++i) {  // outside of all windows
                       const int64_t right = in + (i + 1) * planes.side - 1;
                       const int64_t bottom = in + (planes.side - 1) * planes.side + i;
                       dx[right] = back(0.0F, x[right]);
                       dx[bottom] = back(0.0F, x[bottom]);
                     }
                   }
                 });
    return {for_input, for_weight, for_bias, Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor norm_relu_pool(const Tensor& input,
                      const Tensor& weight,
                      const Tensor& bias,
                      const Tensor& running_mean,
                      const Tensor& running_variance,
                      bool pool) {
  return NormReluPool::apply(input, weight, bias, running_mean, running_variance, pool);
}

}  // namespace partwise::networks
