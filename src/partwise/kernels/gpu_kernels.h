#pragma once

#include <cstdint>
#include <string>

// An interpretable layer on a GPU, in as few launches as its dependences allow: one forward (two
// with learned templates), four that find out what the layer's filters want, four for the filter
// loss that is logged (these end at once for most batches), and three backward (four with biases).
// All arithmetic is float32, whatever the maps' type; every sum has a fixed order.
// The same functions as map_kernels.h, layer_kernels.h and fit_kernels.h, arranged by what can be
// done while a map is in registers.
namespace partwise::kernels {

inline constexpr int kGpuSources = 4;
inline constexpr int kGpuMostImages = 65535;    // of a batch: a grid's second side
inline constexpr int kGpuMostSide = 32;         // of a map
inline constexpr int kGpuMostFilters = 4096;    // of a layer
inline constexpr int kGpuMostCategories = 320;  // of a task

// Maps x = max(value, 0), with the channels innermost: [images, side, side, filters]. They may come
// in several pieces whose filters follow one another, each with an even number of them.
struct GpuMaps {
  const void* values[kGpuSources] = {};
  const float* biases[kGpuSources] = {};  // [filters_of]: added to the values first; or null
  int filters_of[kGpuSources] = {};
  int pieces = 0;
  bool narrow = false;  // bfloat16; otherwise float
  int images = 0;
  int filters = 0;
  int side = 0;
};

// U_mu(cell) = max(1 - slope |cell - mu|, -1)
struct GpuTemplates {
  const float* slopes = nullptr;  // [filters]
  bool round = false;             // |.| is L2, otherwise L1
};

// Pointers are to [images, filters] unless noted.
struct GpuLook {
  GpuMaps maps;
  GpuTemplates templates;
  bool seek = true;  // finds peaks and what belongs to them; otherwise `peaks` is read
  bool centroid = false;
  float share = 1.0F;      // of the mask that is in force
  void* masked = nullptr;  // [images, side, side, filters], the maps' type; or null
  int* peaks = nullptr;
  int* strongest = nullptr;  // of the values, not of the maps: a silent map has one, too
  float* tops = nullptr;
  float* masses = nullptr;
  float* squares = nullptr;  // sum x^2
  float* fits = nullptr;     // sum x U_mu
  float* spreads = nullptr;  // sum x |cell - mu|^2, L2; or null
};

// foreign = the fit to the template of another image's and another filter's peak: both counted from
// the far end.
struct GpuForeign {
  GpuMaps maps;
  GpuTemplates templates;
  const int* peaks = nullptr;  // of the whole batch
  float* foreign = nullptr;    // of these images
  int images = 0;              // of the whole batch
  int first = 0;               // of these among them
};

// The layer's memory, as parts/memory.h has it: [filters] or a number unless noted.
struct GpuMemory {
  int categories = 0;
  bool relative = false;        // how filters find their category
  float category_share = 0.0F;  // of a new batch in a mean
  float scale_share = 0.0F;
  float* peak_scale = nullptr;
  float* scale_seen = nullptr;
  float* peak_best = nullptr;
  float* calm = nullptr;
  float* peak_all = nullptr;
  float* all_seen = nullptr;
  float* fit_spread = nullptr;  // or null: beta is fixed
  float* fit_sum = nullptr;
  float* category_mean = nullptr;   // [categories, filters]
  float* category_seen = nullptr;   // [categories]
  const float* assigned = nullptr;  // or null
};

// The batch's sums, and the running mean of each category's response.
struct GpuGather {
  int images = 0;
  int filters = 0;
  int cells = 0;
  const int64_t* labels = nullptr;  // [images]
  const float* response = nullptr;
  const float* tops = nullptr;
  const float* masses = nullptr;
  const float* fits = nullptr;
  const float* spreads = nullptr;  // or null
  GpuMemory memory;
  float* counts = nullptr;       // [categories]
  float* top_sums = nullptr;     // [categories, filters]
  float* fit_sums = nullptr;     // [categories, filters]
  float* spread_sums = nullptr;  // [categories, filters]
  float* all_sums = nullptr;     // [filters]
};

// What the memory amounts to after a batch.
struct GpuState {
  int* category = nullptr;     // [filters]
  float* mean_peak = nullptr;  // [filters]
  float* mean_all = nullptr;   // [filters]
  float* scale = nullptr;      // [filters]
  float* inverse = nullptr;    // [filters]: a fit times this is tr(x T_mu)
  float* need = nullptr;       // [filters]: of being lifted (parts/keep_alive.h)
  float* slopes = nullptr;     // [filters]: of learned templates; or null
  float* per_vote = nullptr;   // [categories]: kSharpness / filters of this category
  float* numbers = nullptr;    // [2]: loudness, softening
};

struct GpuSettle {
  GpuGather batch;
  GpuState state;
  float slope_unit = 0.0F;  // of one unit of the release's slope
  float tau = 0.0F;         // of the templates
  bool raw = false;         // dx/dx^ is 1, otherwise the scale
};

// Whose weights: of a rule that has one template per map, or of every cell (GpuMixture).
enum class GpuRule { release, paper, mixed };

// The weights of the filter loss, the vote, and what is counted of both.
struct GpuWeigh {
  GpuGather batch;
  GpuState state;
  GpuRule rule = GpuRule::release;
  const float* foreign = nullptr;        // release
  const int* peaks = nullptr;            // paper
  const float* log_partition = nullptr;  // paper: [cells + 1, filters]
  const float* log_marginals = nullptr;  // paper: log N p(x), or null: 0
  float most = 0.0F;                     // paper: of v
  const float* sizes = nullptr;          // mixed: GpuMixture's
  const float* along = nullptr;          // mixed: GpuMixture's
  const float* squares = nullptr;
  const float* shares = nullptr;  // [categories]: omega by these; or null
  bool balance_batch = false;
  bool ignore_misfits = false;
  bool raw = false;   // dx/dx^ is 1, otherwise the scale
  bool kept = false;  // loudness
  int power = 0;      // of E[max x] that weighs the filters: 2, 1 (of all images) or 0
  float tau = 0.0F;   // of the templates
  float weight_limit = 0.0F;
  float vote = 0.0F;
  const float* softening = nullptr;  // one number, or null: 1
  float* constant = nullptr;         // mixed: neither this nor the next
  float* pull = nullptr;
  float* scaling = nullptr;     // [filters]
  float* raise = nullptr;       // or null: no vote
  float* effective = nullptr;   // [2, filters]: of each filter, and whether it has any positives
  float* losses = nullptr;      // [images]: of the vote
  unsigned* arrived = nullptr;  // 0 between launches
  float* sums = nullptr;        // ratio, effective samples, softening, vote: added to
};

// Of every map: what is added to its gradient (kernels::Push in map_kernels.h).
struct GpuPush {
  GpuMaps maps;
  GpuTemplates templates;
  const void* gradient = nullptr;  // [images, side, side, filters], the maps' type
  float share = 1.0F;
  bool through_relu = false;  // the values' gradient is asked for, not the maps'
  bool centroid = false;      // how the peaks were found
  const int* peaks = nullptr;
  const int* strongest = nullptr;
  const float* constant = nullptr;  // null: no push but the mask alone
  const float* pull = nullptr;
  const float* scaling = nullptr;  // [filters]
  const float* raise = nullptr;    // or null
  const float* dense = nullptr;    // [images, side, side, filters]: in place of constant and pull
  const float* need = nullptr;     // [filters], or null: no lift
  const int64_t* labels = nullptr;
  const int* category = nullptr;
  // norms: written; push: read
  float* task_squares = nullptr;
  float* push_squares = nullptr;
  float* lift_squares = nullptr;
  float* factor = nullptr;            // [filters]
  float* lift = nullptr;              // [filters]
  const int64_t* seed = nullptr;      // of rounding at random, one number
  void* gradients[kGpuSources] = {};  // like the values
  float* bias_sums = nullptr;         // of each map's gradient; or null
};

enum class GpuUnit { filter_share, layer_share, plain };

// factor and lift out of the squares; adds the gradient ratio to sums[0].
struct GpuBalance {
  int images = 0;
  int filters = 0;
  GpuUnit unit = GpuUnit::plain;
  float strength = 0.0F;
  float keep_alive = 0.0F;
  const float* softening = nullptr;  // one number, or null: 1
  const float* need = nullptr;       // [filters], or null
  const float* task_squares = nullptr;
  const float* push_squares = nullptr;
  const float* lift_squares = nullptr;
  float* norms = nullptr;  // [3, filters]
  unsigned* arrived = nullptr;
  float* factor = nullptr;
  float* lift = nullptr;
  float* sums = nullptr;
};

// The fits of all maps to all templates, mu^- last: what the paper's rules and the logged filter
// loss ask. fit_kernels.h has the functions, parts/filter_gradient.h the formulas.
struct GpuFits {
  GpuMaps maps;
  GpuTemplates templates;
  float* fits = nullptr;         // [images, cells + 1, filters]: sum x U_mu, and - sum x
  const float* since = nullptr;  // nothing is done unless this number is 0; or null
};

// What they sum up to. log_sums: written by the function of that name; the others read
// `log_partition`, which may be the same. [cells + 1, filters] and [images, filters] unless noted.
struct GpuLikelihood {
  int images = 0;
  int filters = 0;
  int cells = 0;
  const float* fits = nullptr;     // as above
  const float* inverse = nullptr;  // [filters]
  const float* log_partition = nullptr;
  float* log_sums = nullptr;
  float most = 0.0F;               // of v in log_marginals
  float* log_marginals = nullptr;  // of every map; gain_sums reads them
  float* terms = nullptr;  // [3, images, filters]: information, category and spatial entropy
  float* gain_sums = nullptr;
  const float* since = nullptr;  // log_sums, loss_terms: as above
};

// The means of the filter loss and its terms are added to the sums, or nothing; then `since` counts
// on, to be 0 again after so many batches.
struct GpuWatch {
  int images = 0;
  int filters = 0;
  int cells = 0;
  const float* terms = nullptr;  // as above
  double* sums = nullptr;        // [4]: loss; entropies of prior, category and place
  float* since = nullptr;
  float every = 1.0F;
};

// dLoss_f/dx of every cell: factor (weight of mu^- - sum_mu weight_mu U_mu), with
// weight = e^v (v - log_marginal - gain), v = min(fit * inverse - log_partition, most).
struct GpuMixture {
  GpuMaps maps;
  GpuTemplates templates;
  const float* fits = nullptr;           // as above
  const float* inverse = nullptr;        // [filters]
  const float* log_partition = nullptr;  // [cells + 1, filters]
  float most = 0.0F;
  const float* log_marginals = nullptr;  // [images, filters], or null: 0
  const float* gains = nullptr;          // [cells + 1, filters], or null: 0
  bool ignore_misfits = false;
  const float* factor = nullptr;  // [filters]
  float* dense = nullptr;         // [images, side, side, filters]
  float* sizes = nullptr;         // [images, filters]: its norm over each map
  float* along = nullptr;         // [images, filters]: sum x dLoss_f/dx
};

// Images as a network takes them, the channels innermost: (x / 255 - mean) / spread.
struct GpuPixels {
  const unsigned char* pixels = nullptr;  // [images, 3, cells]
  void* normalised = nullptr;             // [images, cells, 3], bfloat16 (narrow) or float
  int64_t images = 0;
  int64_t cells = 0;
  bool narrow = false;
  float factor[3] = {};
  float offset[3] = {};
};

// What stands behind convolutions: their biases, ReLU, results put side by side, max pooling. The
// channels innermost: values [images, high, wide, channels_of], even in number, in several pieces
// whose channels follow one another.
struct GpuOpening {
  const void* values[kGpuSources] = {};
  const float* biases[kGpuSources] = {};  // [channels_of]; null: pooled as they are, without ReLU
  int channels_of[kGpuSources] = {};
  int pieces = 0;
  int channels = 0;
  bool narrow = false;  // bfloat16; otherwise float
  int images = 0;
  int high = 0;
  int wide = 0;
  // Windows of cells, of which the highest is kept; 1, 1, 0: each cell is.
  int kernel = 1;
  int stride = 1;
  int padding = 0;
  int out_high = 0;
  int out_wide = 0;
  void* opened = nullptr;  // [images, out_high, out_wide, channels]: max(x + bias, 0); may be
                           // the values themselves where nothing is pooled or joined
  unsigned char* from = nullptr;  // alike: from which cell of the window; without windows null
};
inline constexpr int kGpuMostKernel = 15;
inline constexpr unsigned char kGpuClosed = 255;  // `from`: from none of them, none is above 0

// Back: what reaches the values, and the biases' gradients.
struct GpuOpeningBack {
  GpuOpening of;
  const void* gradient = nullptr;  // like `opened`
  void* passed[kGpuSources] = {};  // like the values
  float* parts = nullptr;          // [kGpuBiasParts, channels]
  float* for_biases = nullptr;     // [channels]
};
inline constexpr int kGpuBiasParts = 528;  // four per multiprocessor of a Hopper chip

// sums[column] = the sum over the rows
struct GpuColumnSums {
  const float* numbers = nullptr;  // [rows, columns]
  float* sums = nullptr;
  int rows = 0;
  int columns = 0;
};

struct GpuKernels {
  void (*look)(const GpuLook& work, void* stream);
  void (*foreign)(const GpuForeign& work, void* stream);
  void (*gather)(const GpuGather& work, void* stream);
  void (*settle)(const GpuSettle& work, void* stream);
  void (*weigh)(const GpuWeigh& work, void* stream);
  void (*norms)(const GpuPush& work, void* stream);
  void (*balance)(const GpuBalance& work, void* stream);
  void (*push)(const GpuPush& work, void* stream);
  void (*normalise)(const GpuPixels& work, void* stream);
  void (*open)(const GpuOpening& work, void* stream);
  void (*open_back)(const GpuOpeningBack& work, void* stream);
  void (*column_sums)(const GpuColumnSums& work, void* stream);
  void (*all_fits)(const GpuFits& work, void* stream);
  void (*log_sums)(const GpuLikelihood& work, void* stream);
  void (*log_marginals)(const GpuLikelihood& work, void* stream);
  void (*loss_terms)(const GpuLikelihood& work, void* stream);
  void (*watch)(const GpuWatch& work, void* stream);
  void (*gain_sums)(const GpuLikelihood& work, void* stream);
  void (*mix)(const GpuMixture& work, void* stream);
  bool emulated = false;  // on the CPU, for tests: gpu_emulation_fixture.h
  // Why a GPU cannot run these; empty: it can. Null: none needs to be asked.
  std::string (*refusal)(int device) = nullptr;
};

// What works on tensors of the GPU `device`, or below 0 of the CPU. Null where there is nothing: in
// a program built without CUDA, or not for this GPU, which is said once. Then operators do the
// work.
const GpuKernels* gpu_kernels(int device);

const GpuKernels* use_gpu_kernels(const GpuKernels* kernels);  // for tests; gives those before

// A kernel was launched and did not start: an Error.
[[noreturn]] void launch_failed(int device, const std::string& why);

}  // namespace partwise::kernels
