#pragma once

#include "partwise/kernels/levels.h"

#include <cstdint>

// What an interpretable layer does to its maps, one read and one write at a time. All functions
// work on the maps `begin` to `end` of a batch and touch no others, so that several threads can
// share it and the result does not depend on how many they are. (mask_pairs does each map's
// counterpart from the end, too.) T: float or double.
namespace partwise::kernels {

// maps [images, filters, cells], contiguous, >= 0; cells = side * side. A "map" is one filter's of
// one image; map k is of filter k % filters.
struct Batch {
  int64_t images = 0;
  int64_t filters = 0;
  int64_t side = 0;
  int64_t cells() const { return side * side; }
  int64_t maps() const { return images * filters; }
};

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

// U_mu(cell) = max(1 - slope * |cell - mu|, -1), mu of each map its own.
template <class T>
struct TemplatesAt {
  const int64_t* peaks = nullptr;  // [images, filters]: mu as cell i * side + j
  const T* slopes = nullptr;       // [filters]: beta / side
  const T* distances = nullptr;    // [cells, cells]: |cell - mu|, row mu
};

// What a map shows by itself, [images, filters] each.
template <class T>
struct Looks {
  int64_t* peaks = nullptr;      // the part location mu-hat
  int64_t* strongest = nullptr;  // the strongest cell, the first of equals
  T* tops = nullptr;             // max x
  T* masses = nullptr;           // sum x
  T* squares = nullptr;          // sum x^2
};

// sum x U_mu, [images, filters]: mu its own peak, and that of the map as far from the end as it is
// from the beginning, another image's and another filter's.
template <class T>
struct Fits {
  T* own = nullptr;
  T* foreign = nullptr;
};

// What is added to the task gradient t at the maps (parts/filter_push.h):
//   factor_f * ( [x > 0] (constant + pull U_mu) - scaling_f x ), or `dense` in place of the bracket
//   + raise at the strongest cell
// and by `lift`, once it is known,
//   - lift max(U_strongest, 0) at the strongest cell and where x > 0
template <class T>
struct Push {
  TemplatesAt<T> templates;
  const T* constant = nullptr;         // [images, filters]
  const T* pull = nullptr;             // [images, filters]
  const T* scaling = nullptr;          // [filters]
  const T* factor = nullptr;           // [filters]
  const int64_t* strongest = nullptr;  // [images, filters]
  const T* raise = nullptr;            // [images, filters], or null
  const T* lift = nullptr;             // [images, filters], or null
  const T* dense = nullptr;            // [images, filters, cells], or null: constant and pull
};

template <class T>
struct MapKernels {
  // centroid: mu-hat is the cell nearest to the activation's centre of mass, a silent map's the
  // centre; otherwise the strongest cell.
  void (*look)(
      const Batch& batch, Range range, const T* maps, bool centroid, const Looks<T>& looks);

  // sums = sum_cell x table[mu, cell];  table [cells, cells]
  void (*weigh)(const Batch& batch,
                Range range,
                const T* maps,
                const int64_t* peaks,
                const T* table,
                T* sums);

  // fits = sum x U_mu
  void (*fit)(
      const Batch& batch, Range range, const T* maps, const TemplatesAt<T>& templates, T* fits);

  // sum x y, of maps alike
  void (*dot)(const Batch& batch, Range range, const T* maps, const T* others, T* sums);

  // masked = x (1 - share + share max(U_mu, 0)); of a gradient: t, the task gradient at the maps
  void (*mask)(const Batch& batch,
               Range range,
               const T* maps,
               const TemplatesAt<T>& templates,
               T share,
               T* masked);

  // Both at once, for maps of the range and those as far from the end; the range is part of the
  // first half, a middle map included.
  void (*mask_pairs)(const Batch& batch,
                     Range range,
                     const T* maps,
                     const TemplatesAt<T>& templates,
                     T share,
                     const Fits<T>& fits,
                     T* masked);

  // sum t^2 and sum p^2 of each map, p the filter loss's part before its factor.
  void (*norms)(const Batch& batch,
                Range range,
                const T* maps,
                const T* gradient,
                const Push<T>& push,
                T share,
                T* task_squares,
                T* push_squares);

  // sum max(U_strongest, 0)^2 over the cells that a lift would reach; of maps that are `wanted`,
  // otherwise 0.
  void (*lift_squares)(const Batch& batch,
                       Range range,
                       const T* maps,
                       const TemplatesAt<T>& at_strongest,
                       const T* wanted,
                       T* squares);

  // added = t + push but the lift; closed: what of it lies at a strongest cell with x <= 0,
  // [images, filters].
  void (*push)(const Batch& batch,
               Range range,
               const T* maps,
               const T* gradient,
               const Push<T>& push,
               T share,
               T* added,
               T* closed);

  // The lift, added to both.
  void (*lift)(
      const Batch& batch, Range range, const T* maps, const Push<T>& push, T* added, T* closed);
};

template <class T>
const MapKernels<T>& map_kernels(Level level = best_level());

// One per level, each in a file compiled for it.
template <class T>
const MapKernels<T>& portable_map_kernels();
template <class T>
const MapKernels<T>& avx2_map_kernels();
template <class T>
const MapKernels<T>& avx512_map_kernels();

}  // namespace partwise::kernels
