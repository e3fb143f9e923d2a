#include "partwise/views/lettering.h"

#include "partwise/base/error.h"
#include "partwise/base/utf8.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace partwise::views {
namespace {

// M, L, Q and C are SVG's. A and U are quarter turns of a slightly squared ellipse: A sets out
// across and arrives upright, U sets out upright and arrives across. D is a dot, a little larger
// than the pen's tip.
struct LetterPath {
  const char* character;
  double advance;
  const char* path;
};

constexpr LetterPath kLetterPaths[] = {
    {" ", 7.5, ""},
    {"!", 7, "M3.5 20L3.5 6.5D3.5 .5"},
    {"\"", 10, "M3 20L3 14.5M7 20L7 14.5"},
    {"#", 17.5, "M5 0L7.5 20M10.5 0L13 20M2 6.5L15 6.5M2.7 13.5L15.7 13.5"},
    {"$", 17,
     "M14.5 16C13.5 18.7 11.5 20 8.5 20C5 20 2.5 18 2.5 15C2.5 11.8 5 10.9 8.5 10.2C12.5 9.4 14.8 "
     "8.2 14.8 5.2C14.8 2 12 0 8.5 0C5.2 0 3 1.4 2 4.3M8.5 23L8.5 -3"},
    {"%", 24,
     "M6.3 20A2.5 15.3U6.3 10.6A10.1 15.3U6.3 20M17.7 9.4A13.9 4.7U17.7 0A21.5 4.7U17.7 9.4M17.8 "
     "20L6.2 0"},
    {"&", 20,
     "M17.5 0L5.8 13.3C5 14.3 4.6 15.2 4.6 16.2C4.6 18.5 6.2 20 8.4 20C10.6 20 12.2 18.5 12.2 "
     "16.3C12.2 14 10.6 12.8 8 11.2C4.6 9.2 2.5 7.6 2.5 4.8C2.5 1.9 4.7 0 8 0C12 0 15.5 3 16.5 9"},
    {"'", 6, "M3 20L3 14.5"},
    {"(", 9, "M7 22.5C2.4 16.5 2.4 1 7 -5"},
    {")", 9, "M2 22.5C6.6 16.5 6.6 1 2 -5"},
    {"*", 12, "M6 20L6 12M2.5 18L9.5 14M2.5 14L9.5 18"},
    {"+", 16, "M8 2.5L8 13.5M2.5 8L13.5 8"},
    {",", 7, "M3.8 .8L3.8 .2L2.4 -3.4"},
    {"-", 10, "M2.2 7L7.8 7"},
    {".", 7, "D3.5 .5"},
    {"/", 11, "M1.5 -2.5L9.5 21.5"},
    {"0", 15.5, "M7.75 0A2.5 10U7.75 20A13 10U7.75 0"},
    {"1", 15.5, "M3.5 16.5L8.7 20L8.7 0"},
    {"2", 15.5,
     "M2.8 15.5C3.4 18.4 5.2 20 7.9 20C11 20 12.8 18 12.8 15C12.8 12.5 11.4 10.5 9 7.8L2.5 0L13.2 "
     "0"},
    {"3", 15.5,
     "M2.8 17C3.8 19 5.5 20 7.7 20C10.6 20 12.5 18.2 12.5 15.3C12.5 12.4 10.5 10.7 7 10.7C10.8 "
     "10.7 13 8.8 13 5.5C13 2.1 10.8 0 7.6 0C5 0 3.2 1.2 2.3 3.8"},
    {"4", 15.5, "M10.5 0L10.5 20L2 5.5L13.8 5.5"},
    {"5", 15.5,
     "M12 20L4 20L3.3 11.2C4.5 12.4 6 13 7.8 13C11 13 13 10.5 13 6.7C13 2.6 10.8 0 7.4 0C4.8 0 "
     "3.1 1.2 2.3 3.6"},
    {"6", 15.5, "M10.3 20C5.5 15.5 2.6 11 2.6 6.3U7.8 0A13 6.3U7.8 12.6C5.4 12.6 3.6 11.4 2.9 9"},
    {"7", 15.5, "M2.5 20L13 20L6 0"},
    {"8", 15.5,
     "M7.75 10.8A3.1 15.4U7.75 20A12.4 15.4U7.75 10.8A2.4 5.4U7.75 0A13.1 5.4U7.75 10.8"},
    {"9", 15.5, "M5.3 0C10.1 4.5 13 9 13 13.7U7.8 20A2.6 13.7U7.8 7.4C10.2 7.4 12 8.6 12.7 11"},
    {":", 7, "D3.5 .5D3.5 12.5"},
    {";", 7, "M3.8 .8L3.8 .2L2.4 -3.4D3.8 12.5"},
    {"<", 16, "M13.5 14L2.8 8L13.5 2"},
    {"=", 16, "M2.5 11L13.5 11M2.5 5L13.5 5"},
    {">", 16, "M2.5 14L13.2 8L2.5 2"},
    {"?", 14,
     "M2.3 16C3 18.6 4.6 20 7 20C9.9 20 11.7 18.3 11.7 15.6C11.7 13.3 10.5 12 8.9 10.6C7.5 9.4 6.8 "
     "8.5 6.8 6.3D6.8 .5"},
    {"@", 26,
     "M18 14L17.2 7.6C16.9 5 18.2 3.6 20 3.6C22.3 3.6 23.5 6.5 23.5 9.5C23.5 15.8 19 20 13.2 20C7 "
     "20 2.5 15 2.5 8.3C2.5 1 7 -4 13.5 -4C16 -4 18 -3.4 19.8 -2.2M17.7 10.5C17.3 13 15.6 14.2 "
     "13.4 14.2C10.3 14.2 8.2 11.6 8.2 8.2C8.2 5.2 9.8 3.4 12.2 3.4C14.8 3.4 16.8 5.5 17.3 8.3"},
    {"A", 19, "M2 0L9.5 20L17 0M4.5 6.8L14.5 6.8"},
    {"B", 18.5, "M9.5 10.5L3 10.5L3 20L9.5 20A14.7 15.25U9.5 10.5A16 5.25U9.5 0L3 0L3 10.5"},
    {"C", 19, "M17.2 15C15.7 18.4 13.6 20 10.5 20A2.8 10U10.5 0C13.6 0 15.7 1.6 17.2 5"},
    {"D", 20.5, "M3 0L3 20L9 20A18 11.5L18 8.5U9 0L3 0"},
    {"E", 16.5, "M14.5 20L3 20L3 0L14.5 0M3 10.5L13 10.5"},
    {"F", 15.5, "M14 20L3 20L3 0M3 10L12.5 10"},
    {"G", 21, "M17.3 15.3C15.7 18.5 13.6 20 10.5 20A2.8 10U10.5 0A18 7L18 9.3L11.8 9.3"},
    {"H", 20, "M3 0L3 20M17 0L17 20M3 10.5L17 10.5"},
    {"I", 7, "M3.5 0L3.5 20"},
    {"J", 14, "M11 20L11 6U6.5 0A1.8 4.2"},
    {"K", 18, "M3 0L3 20M16 20L3 7.5M7.5 11.8L16.8 0"},
    {"L", 15, "M3 20L3 0L13.8 0"},
    {"M", 23, "M3 0L3 20L11.5 4.5L20 20L20 0"},
    {"N", 20, "M3 0L3 20L17 0L17 20"},
    {"O", 21.5, "M10.75 0A2.7 10U10.75 20A18.8 10U10.75 0"},
    {"P", 17.5, "M3 0L3 20L10 20A15.7 14.5U10 9L3 9"},
    {"Q", 21.5, "M10.75 0A2.7 10U10.75 20A18.8 10U10.75 0M12.3 5L18.6 -1.5"},
    {"R", 18.5, "M3 0L3 20L10 20A15.7 14.7U10 9.4L3 9.4M10 9.4L16.5 0"},
    {"S", 17,
     "M14.5 16C13.5 18.7 11.5 20 8.5 20C5 20 2.5 18 2.5 15C2.5 11.8 5 10.9 8.5 10.2C12.5 9.4 14.8 "
     "8.2 14.8 5.2C14.8 2 12 0 8.5 0C5.2 0 3 1.4 2 4.3"},
    {"T", 17, "M1.5 20L15.5 20M8.5 20L8.5 0"},
    {"U", 20, "M3 20L3 7U10 0A17 7L17 20"},
    {"V", 18, "M1.5 20L9 0L16.5 20"},
    {"W", 26, "M1.5 20L7 0L13 20L19 0L24.5 20"},
    {"X", 18, "M2 0L16 20M2 20L16 0"},
    {"Y", 17.5, "M1.5 20L8.75 9.5L16 20M8.75 9.5L8.75 0"},
    {"Z", 17, "M2.5 20L14.8 20L2.2 0L14.8 0"},
    {"[", 9, "M7 22.5L3.3 22.5L3.3 -5L7 -5"},
    {"\\", 11, "M1.5 21.5L9.5 -2.5"},
    {"]", 9, "M2 22.5L5.7 22.5L5.7 -5L2 -5"},
    {"^", 14, "M2.5 12L7 20L11.5 12"},
    {"_", 14, "M.5 -3.5L13.5 -3.5"},
    {"`", 8, "M2.5 20L5.5 16.5"},
    {"a", 15,
     "M2.8 11.8C3.9 13.3 5.4 14 7.3 14A12 9.3L12 0M12 8L7 8A2.3 4U6.4 0C9 0 11 1.3 12 3.6"},
    {"b", 15.5, "M3 20L3 0M3 7U8 14A13 7U8 0A3 7"},
    {"c", 13.5, "M12 11C11.1 13 9.7 14 7.5 14A2.5 7U7.5 0C9.7 0 11.1 1 12 3"},
    {"d", 15.5, "M12.5 20L12.5 0M12.5 7U7.5 14A2.5 7U7.5 0A12.5 7"},
    {"e", 15, "M2.6 7.2L12.6 7.2C12.6 11.6 10.8 14 7.6 14A2.5 7U7.6 0C9.8 0 11.4 .9 12.3 2.8"},
    {"f", 9, "M9 20L8.3 20A4.5 16.3L4.5 0M1.3 14L8.5 14"},
    {"g", 15.5, "M12.5 7U7.5 14A2.5 7U7.5 0A12.5 7M12.5 14L12.5 -1U7.5 -6C5.6 -6 4.2 -5.4 3 -4.2"},
    {"h", 15, "M3 20L3 0M3 8.5U7.8 14A12 9.2L12 0"},
    {"i", 6.6, "M3.3 0L3.3 14D3.3 19.1"},
    {"j", 6.8, "M3.6 14L3.6 -2.4U.4 -6L0 -6D3.6 19.1"},
    {"k", 13.8, "M3 0L3 20M11.6 14L3 5.4M6.3 8.7L12.2 0"},
    {"l", 7.6, "M3 20L3 3U5.6 0L6.2 0"},
    {"m", 23, "M3 14L3 0M3 8.8U7.5 14A11.5 9.4L11.5 0M11.5 8.8U16 14A20 9.4L20 0"},
    {"n", 15, "M3 14L3 0M3 8.5U7.8 14A12 9.2L12 0"},
    {"o", 15.5, "M7.75 0A2.5 7U7.75 14A13 7U7.75 0"},
    {"p", 15.5, "M3 14L3 -6M3 7U8 14A13 7U8 0A3 7"},
    {"q", 15.5, "M12.5 14L12.5 -6M12.5 7U7.5 14A2.5 7U7.5 0A12.5 7"},
    {"r", 9.5, "M3 14L3 0M3 8.5U7.6 14L9 14"},
    {"s", 13.3,
     "M11.2 11.4C10.3 13.2 8.9 14 6.8 14C4.2 14 2.5 12.7 2.5 10.6C2.5 8.4 4.2 7.8 6.8 7.2C9.7 6.5 "
     "11.4 5.8 11.4 3.6C11.4 1.4 9.6 0 6.8 0C4.4 0 2.7 .9 1.9 2.9"},
    {"t", 9.5, "M4.5 18.5L4.5 4U8 0L9 0M1.3 14L8.8 14"},
    {"u", 15, "M3 14L3 4.8U7.2 0A12 5.5M12 14L12 0"},
    {"v", 13.5, "M1.5 14L6.75 0L12 14"},
    {"w", 20, "M1.5 14L5.75 0L10 14L14.25 0L18.5 14"},
    {"x", 13.3, "M1.8 0L11.5 14M1.8 14L11.5 0"},
    {"y", 13.5, "M1.5 14L6.85 .3M12 14L5.5 -3.4C4.8 -5.2 3.9 -6 2.2 -6"},
    {"z", 13, "M2.2 14L11 14L2 0L11 0"},
    {"{", 10, "M8 22.5L7.5 22.5A5 19.5L5 12.5C5 10.3 4 8.8 2 8.8C4 8.8 5 7.2 5 5L5 -2U7.5 -5L8 -5"},
    {"|", 7, "M3.5 23L3.5 -5"},
    {"}", 10, "M2 22.5L2.5 22.5A5 19.5L5 12.5C5 10.3 6 8.8 8 8.8C6 8.8 5 7.2 5 5L5 -2U2.5 -5L2 -5"},
    {"~", 16, "M2.5 6.5C3.5 9 5 9.6 6.5 9C8 8.4 8.5 7.6 10 7C11.5 6.4 12.6 7.2 13.5 9.5"},
    {"\u00A0", 7.5, ""},
    {"\u202F", 5, ""},
    {"°", 10, "M5 13.4A1.8 16.7U5 20A8.2 16.7U5 13.4"},
    {"±", 16, "M8 5.5L8 15.5M2.5 10.5L13.5 10.5M2.5 1L13.5 1"},
    {"µ", 15.5, "M3 14L3 -6M3 4.8U7.2 0A12 5.5M12 14L12 0"},
    {"·", 7, "D3.5 8"},
    {"×", 16, "M3.8 3.8L12.2 12.2M3.8 12.2L12.2 3.8"},
    {"÷", 16, "M2.5 8L13.5 8D8 3.15D8 12.85"},
    {"−", 16, "M2.5 8L13.5 8"},
    {"–", 14, "M1.2 7.5L12.8 7.5"},
    {"—", 24, "M1.2 7.5L22.8 7.5"},
    {"…", 21, "D3.5 .5D10.5 .5D17.5 .5"},
    {"‘", 6, "M3.6 20L2.6 15.5"},
    {"’", 6, "M3.6 20L2.6 15.5"},
    {"“", 10, "M3.6 20L2.6 15.5M7.6 20L6.6 15.5"},
    {"”", 10, "M3.6 20L2.6 15.5M7.6 20L6.6 15.5"},
    {"←", 22, "M20 7.5L3 7.5M8.5 12.5L3 7.5L8.5 2.5"},
    {"→", 22, "M2 7.5L19 7.5M13.5 12.5L19 7.5L13.5 2.5"},
    {"↑", 14, "M7 0L7 19M2 13.5L7 19L12 13.5"},
    {"↓", 14, "M7 20L7 1M2 6.5L7 1L12 6.5"},
    {"≤", 16, "M13.5 17L2.8 11.5L13.5 6M2.5 1L13.5 1"},
    {"≥", 16, "M2.5 17L13.2 11.5L2.5 6M2.5 1L13.5 1"},
    {"≈", 16,
     "M2.5 9.5C3.5 12 5 12.6 6.5 12C8 11.4 8.5 10.6 10 10C11.5 9.4 12.6 10.2 13.5 12.5M2.5 3.5C3.5 "
     "6 5 6.6 6.5 6C8 5.4 8.5 4.6 10 4C11.5 3.4 12.6 4.2 13.5 6.5"},
    {"Δ", 19, "M9.5 20L2 0L17 0L9.5 20L2 0"},
    {"Σ", 17, "M15 20L3 20L10.2 10L3 0L15 0"},
    {"β", 16, "M3 -6L3 14.5U7.8 20A12.3 15.6U8.3 11.2A13.2 5.6U8 0C5.6 0 3.9 1 3 3.2"},
    {"λ", 14.5, "M1.3 20L2 20C3.8 20 4.8 19 5.5 17.3L12.8 0M7.5 12.6L2 0"},
    {"τ", 13.5,
     "M1.5 11.5C2.2 13.3 3.2 14 5 14L12.5 14M7 14L7 3.5C7 1.2 8 0 10 0C10.8 0 11.4 .2 12 .5"},
    {"μ", 15.5, "M3 14L3 -6M3 4.8U7.2 0A12 5.5M12 14L12 0"},
    {"ß", 16, "M3 0L3 14.5U7.8 20A12.3 15.6U8.3 11.2A13.2 5.6U8 0L6.5 0"},
    {"Æ", 27, "M1.8 0L12 20L25 20M13.5 20L13.5 0L25 0M13.5 10.5L23 10.5M5 6.8L13.5 6.8"},
    {"æ", 24,
     "M2.8 11.8C3.9 13.3 5.4 14 7.3 14C10.3 14 11.8 12.3 11.8 9L11.8 5C11.8 2 9.5 0 6.4 0C4 0 2.3 "
     "1.5 2.3 4A7 8L21.6 7.2C21.6 11.6 19.8 14 16.7 14C13.6 14 11.8 11.4 11.8 7C11.8 2.6 13.6 0 "
     "16.7 0C18.8 0 20.4 .9 21.3 2.8"},
    {"Ø", 21.5, "M10.75 0A2.7 10U10.75 20A18.8 10U10.75 0M3 -1.5L18.5 21.5"},
    {"ø", 15.5, "M7.75 0A2.5 7U7.75 14A13 7U7.75 0M2.5 -1.5L13 15.5"},
    {"Ð", 20.5, "M3 0L3 20L9 20A18 11.5L18 8.5U9 0L3 0M.5 10.5L9.5 10.5"},
    {"ð", 15.5, "M13 7U7.75 13A2.5 6.5U7.75 0A13 7C13 12.5 10 17 5 20.5M4 15.8L11.5 19"},
    {"Þ", 17.5, "M3 0L3 20M3 16L10 16A15.7 10.5U10 5L3 5"},
    {"þ", 15.5, "M3 20L3 -6M3 7U8 14A13 7U8 0A3 7"},
    {"ı", 6.6, "M3.3 0L3.3 14"},
};

// Accents over small letters, centred on x = 0.
enum class Accent { grave, acute, circumflex, tilde, diaeresis, ring, cedilla };
constexpr const char* kAccentPaths[] = {
    "M-2.6 20.5L1 17",
    "M2.6 20.5L-1 17",
    "M-3.3 17L0 20.5L3.3 17",
    "M-3.8 17.3C-2.5 19.7 -1.2 19.4 0 18.6C1.2 17.8 2.5 17.5 3.8 19.9",
    "D-2.8 19.1D2.8 19.1",
    "M0 16.6A-2.3 18.9U0 21.2A2.3 18.9U0 16.6",
    "M.3 0L-.6 -2.2C1.3 -2.2 2.2 -3 1.9 -4.2C1.6 -5.5 -.3 -6 -2.2 -5.2",
};
constexpr double kAccentRise = 6.0;     // over a capital
constexpr double kAccentAdvance = 9.0;  // room for an i with a circumflex

struct AccentedLetter {
  const char* character;
  const char* base;
  Accent accent;
};

constexpr AccentedLetter kAccentedLetters[] = {
    {"À", "A", Accent::grave},      {"Á", "A", Accent::acute},      {"Â", "A", Accent::circumflex},
    {"Ã", "A", Accent::tilde},      {"Ä", "A", Accent::diaeresis},  {"Å", "A", Accent::ring},
    {"Ç", "C", Accent::cedilla},    {"È", "E", Accent::grave},      {"É", "E", Accent::acute},
    {"Ê", "E", Accent::circumflex}, {"Ë", "E", Accent::diaeresis},  {"Ì", "I", Accent::grave},
    {"Í", "I", Accent::acute},      {"Î", "I", Accent::circumflex}, {"Ï", "I", Accent::diaeresis},
    {"Ñ", "N", Accent::tilde},      {"Ò", "O", Accent::grave},      {"Ó", "O", Accent::acute},
    {"Ô", "O", Accent::circumflex}, {"Õ", "O", Accent::tilde},      {"Ö", "O", Accent::diaeresis},
    {"Ù", "U", Accent::grave},      {"Ú", "U", Accent::acute},      {"Û", "U", Accent::circumflex},
    {"Ü", "U", Accent::diaeresis},  {"Ý", "Y", Accent::acute},      {"à", "a", Accent::grave},
    {"á", "a", Accent::acute},      {"â", "a", Accent::circumflex}, {"ã", "a", Accent::tilde},
    {"ä", "a", Accent::diaeresis},  {"å", "a", Accent::ring},       {"ç", "c", Accent::cedilla},
    {"è", "e", Accent::grave},      {"é", "e", Accent::acute},      {"ê", "e", Accent::circumflex},
    {"ë", "e", Accent::diaeresis},  {"ì", "ı", Accent::grave},      {"í", "ı", Accent::acute},
    {"î", "ı", Accent::circumflex}, {"ï", "ı", Accent::diaeresis},  {"ñ", "n", Accent::tilde},
    {"ò", "o", Accent::grave},      {"ó", "o", Accent::acute},      {"ô", "o", Accent::circumflex},
    {"õ", "o", Accent::tilde},      {"ö", "o", Accent::diaeresis},  {"ù", "u", Accent::grave},
    {"ú", "u", Accent::acute},      {"û", "u", Accent::circumflex}, {"ü", "u", Accent::diaeresis},
    {"ý", "y", Accent::acute},      {"ÿ", "y", Accent::diaeresis},
};

constexpr const char* kBoxPath = "M2.5 0L2.5 16L11.5 16L11.5 0L2.5 0";
constexpr double kBoxAdvance = 14.0;

// Reads a path: commands and the points that follow them.
class PathReader {
 public:
  explicit PathReader(const char* path) : rest_(path) {}

  std::vector<std::vector<Point>> lines() {
    while (*rest_ != '\0') step(*rest_++);
    return std::move(lines_);
  }

 private:
  static constexpr int kPieces = 10;     // of a curve
  static constexpr double kFull = 0.58;  // a circle has 0.5523
  static constexpr double kDot = 0.3;

  void step(char command) {
    if (command == 'M' || command == 'D') {
      lines_.push_back({point()});
      if (command == 'D') enlarge(lines_.back());
      return;
    }
    const Point from = lines_.back().back();
    if (command == 'L') {
      lines_.back().push_back(point());
    } else if (command == 'Q') {
      const Point pull = point();
      const Point to = point();
      curve(from, mixed(from, pull, 2.0 / 3.0), mixed(to, pull, 2.0 / 3.0), to);
    } else if (command == 'C') {
      const Point first = point();
      const Point second = point();
      curve(from, first, second, point());
    } else {
      expects(command == 'A' || command == 'U', "a letter's path with '{}'", command);
      const Point to = point();
      const Point corner = command == 'A' ? Point{to.x, from.y} : Point{from.x, to.y};
      curve(from, mixed(from, corner, kFull), mixed(to, corner, kFull), to);
    }
  }

  static void enlarge(std::vector<Point>& dot) {
    const auto [x, y] = dot[0];
    dot = {{x - kDot, y - kDot}, {x + kDot, y - kDot}, {x + kDot, y + kDot}, {x - kDot, y + kDot}};
    dot.push_back(dot[0]);
  }

  void curve(Point a, Point b, Point c, Point d) {
    for (int k = 1; k <= kPieces; ++k) {
      const double t = static_cast<double>(k) / kPieces;
      const Point ab = mixed(a, b, t);
      const Point bc = mixed(b, c, t);
      const Point cd = mixed(c, d, t);
      lines_.back().push_back(mixed(mixed(ab, bc, t), mixed(bc, cd, t), t));
    }
  }

  static Point mixed(Point a, Point b, double t) {
    return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
  }

  Point point() {
    const double x = number();
    return {x, number()};
  }

  // Not strtod, which follows the user's locale.
  double number() {
    while (*rest_ == ' ') ++rest_;
    const bool negative = *rest_ == '-';
    if (negative) ++rest_;
    double value = 0.0;
    for (; is_digit(*rest_); ++rest_) value = 10.0 * value + (*rest_ - '0');
    if (*rest_ == '.') {
      double unit = 0.1;
      for (++rest_; is_digit(*rest_); ++rest_, unit /= 10.0) value += unit * (*rest_ - '0');
    }
    return negative ? -value : value;
  }

  static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

  const char* rest_;
  std::vector<std::vector<Point>> lines_;
};

char32_t only_character(std::string_view text) {
  return take_character(text);
}

Letter accented(const Letter& base, Accent accent, bool capital) {
  Letter letter{std::max(base.advance, kAccentAdvance), base.lines};
  for (auto& line : letter.lines) {
    for (Point& point : line) point.x += (letter.advance - base.advance) / 2.0;
  }
  const double rise = capital && accent != Accent::cedilla ? kAccentRise : 0.0;
  for (auto& line : PathReader(kAccentPaths[static_cast<std::size_t>(accent)]).lines()) {
    for (Point& point : line) point = {point.x + letter.advance / 2.0, point.y + rise};
    letter.lines.push_back(std::move(line));
  }
  return letter;
}

std::map<char32_t, Letter> whole_alphabet() {
  std::map<char32_t, Letter> letters;
  for (const auto& [character, advance, path] : kLetterPaths) {
    letters[only_character(character)] = {advance, PathReader(path).lines()};
  }
  for (const auto& [character, base, accent] : kAccentedLetters) {
    const char32_t code = only_character(base);
    letters[only_character(character)] =
        accented(letters.at(code), accent, code >= U'A' && code <= U'Z');
  }
  return letters;
}

constexpr double kSmall = 14.0;  // heights on the grid
constexpr double kCapital = 20.0;
constexpr double kSmallShare = 0.53;  // heights of a size, pen and all
constexpr double kCapitalShare = 0.72;
constexpr double kUnitShare = 0.0357;  // across
constexpr double kPenShare = 0.085;
constexpr double kBoldPenShare = 0.13;
constexpr double kBoldRoom = 1.0;  // units a bold letter is wider

// Pairs that would gape.
double closer(char32_t left, char32_t right) {
  const auto among = [](char32_t character, std::u32string_view set) {
    return set.find(character) != std::u32string_view::npos;
  };
  if (among(left, U"TVWY") && among(right, U"acdegmnopqrsuäöü.,-A")) return 1.8;
  if (among(left, U"AL") && among(right, U"TVWY")) return 1.8;
  if (among(left, U"FP") && among(right, U".,aA")) return 1.8;
  if (among(left, U"rvwy") && among(right, U".,")) return 1.4;
  return 0.0;
}

template <typename Visit>
double walk_letters(std::string_view words, bool bold, const Visit& visit) {
  double x = 0.0;
  char32_t before = 0;
  while (!words.empty()) {
    char32_t character = take_character(words);
    if (character == U'\n' || character == U'\t' || character == U'\r') character = U' ';
    const Letter& letter = letter_of(character);
    x -= closer(before, character);
    visit(letter, x);
    x += letter.advance + (bold ? kBoldRoom : 0.0);
    before = character;
  }
  return x;
}

// Where the grid's heights lie in pixels over the baseline, the pen's width included.
class Heights {
 public:
  Heights(double size, double pen)
      : low_(pen / 2.0),
        small_(std::max(std::round(kSmallShare * size), 1.0) - pen),
        capital_(std::max(std::round(kCapitalShare * size), 2.0) - pen) {}

  [[nodiscard]] double of(double y) const {
    if (y <= kSmall) return low_ + y / kSmall * small_;
    return low_ + small_ + (y - kSmall) / (kCapital - kSmall) * (capital_ - small_);
  }

 private:
  double low_;
  double small_;
  double capital_;
};

}  // namespace

const Letter& letter_of(char32_t character) {
  static const std::map<char32_t, Letter> letters = whole_alphabet();
  static const Letter box{kBoxAdvance, PathReader(kBoxPath).lines()};
  const auto found = letters.find(character);
  return found == letters.end() ? box : found->second;
}

double lettering_width(std::string_view words, double size, bool bold) {
  return kUnitShare * size * walk_letters(words, bold, [](const Letter&, double) {});
}

Lettering lettering(std::string_view words, double size, bool bold) {
  Lettering written;
  written.pen = std::max((bold ? kBoldPenShare : kPenShare) * size, 0.8);
  const Heights heights(size, written.pen);
  const double unit = kUnitShare * size;
  walk_letters(words, bold, [&](const Letter& letter, double start) {
    for (std::vector<Point> line : letter.lines) {
      const double left = start + (bold ? kBoldRoom / 2.0 : 0.0);
      for (Point& point : line) point = {unit * (left + point.x), -heights.of(point.y)};
      written.lines.push_back(std::move(line));
    }
  });
  return written;
}

}  // namespace partwise::views
