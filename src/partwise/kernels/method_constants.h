#pragma once

// Numbers of the method that are no options, for the kernels and for the composed operators alike.
namespace partwise::kernels {

inline constexpr double kTiny = 1e-12;  // what a divisor is at least

// The vote (parts/vote.h).
inline constexpr double kSharpness = 8.0;
inline constexpr double kMostOfOne = 1.5;

// A filter's weights of the release's rule count as cancelling each other below this share of their
// mean size.
inline constexpr double kVanishingMean = 1e-2;

// A fall over more than about 50 steps is adaptation: decision 0009.
inline constexpr double kBestMemory = 0.98;
inline constexpr double kCalmGrowth = 1.005;  // or fall, per batch: doubled in 140
inline constexpr double kEverFired = 1e-3;    // of the layer's median

// The guard leaves all of the filter loss's strength while the filters that ever fired are on
// average above kSound of their best E[max x] and the mean of E[max x] is below kCalm times a value
// that follows it by at most half a per cent per batch; none of it below kSick or above kRunaway.
inline constexpr double kSound = 0.35;
inline constexpr double kSick = 0.15;
inline constexpr double kCalm = 3.0;
inline constexpr double kRunaway = 8.0;

}  // namespace partwise::kernels
