#include "partwise/experiments/paper_figures.h"

// Figures of the paper's tables as it prints them: net, arm, then one number a column of the
// catalogue in paper_tables.cpp; "-" where the paper has none.
namespace partwise::experiments {

const std::string_view kAnimalPartInstability = R"(
alexnet ordinary        0.161 0.167 0.152 0.153 0.175 0.128 0.123 0.144 0.143 0.148 0.137 0.142
                        0.144 0.148 0.128 0.149 0.152 0.154 0.141 0.141 0.144 0.155 0.147 0.153
                        0.159 0.160 0.139 0.125 0.140 0.125 0.146
alexnet ordinary+layer  0.154 0.157 0.143 0.146 0.170 0.120 0.118 0.127 0.117 0.136 0.120 0.123
                        0.133 0.136 0.112 0.145 0.149 0.142 0.137 0.139 0.141 0.149 0.148 0.143
                        0.145 0.151 0.125 0.116 0.127 0.102 0.136
alexnet interpretable   0.084 0.095 0.090 0.107 0.097 0.079 0.077 0.093 0.087 0.095 0.084 0.090
                        0.095 0.095 0.077 0.095 0.098 0.084 0.091 0.089 0.097 0.101 0.085 0.102
                        0.104 0.095 0.090 0.085 0.084 0.073 0.091
vgg-16  ordinary        0.153 0.156 0.144 0.150 0.170 0.127 0.126 0.143 0.137 0.148 0.139 0.144
                        0.143 0.146 0.125 0.150 0.150 0.153 0.141 0.140 0.140 0.150 0.144 0.149
                        0.154 0.163 0.136 0.129 0.143 0.125 0.144
vgg-16  ordinary+layer  0.136 0.127 0.120 0.136 0.147 0.108 0.111 0.111 0.097 0.134 0.102 0.127
                        0.112 0.119 0.100 0.112 0.134 0.140 0.126 0.126 0.131 0.135 0.122 0.121
                        0.134 0.143 0.108 0.110 0.115 0.102 0.121
vgg-16  interpretable   0.076 0.099 0.086 0.115 0.113 0.070 0.084 0.077 0.069 0.086 0.067 0.097
                        0.081 0.079 0.066 0.065 0.106 0.077 0.094 0.083 0.102 0.097 0.091 0.105
                        0.093 0.100 0.074 0.084 0.067 0.063 0.085
vgg-m   ordinary        0.161 0.166 0.151 0.153 0.176 0.128 0.125 0.145 0.145 0.150 0.140 0.145
                        0.144 0.150 0.128 0.150 0.151 0.158 0.140 0.140 0.143 0.155 0.146 0.154
                        0.160 0.161 0.140 0.126 0.142 0.127 0.147
vgg-m   ordinary+layer  0.147 0.144 0.135 0.142 0.159 0.114 0.115 0.119 0.111 0.128 0.114 0.124
                        0.131 0.134 0.108 0.132 0.138 0.141 0.133 0.131 0.135 0.142 0.130 0.135
                        0.140 0.150 0.120 0.112 0.120 0.106 0.130
vgg-m   interpretable   0.088 0.088 0.089 0.108 0.099 0.080 0.074 0.090 0.082 0.103 0.079 0.089
                        0.101 0.097 0.082 0.095 0.095 0.080 0.095 0.084 0.092 0.094 0.077 0.104
                        0.102 0.093 0.086 0.087 0.089 0.068 0.090
vgg-s   ordinary        0.158 0.166 0.149 0.151 0.173 0.127 0.124 0.143 0.142 0.148 0.138 0.142
                        0.143 0.148 0.128 0.146 0.149 0.155 0.139 0.140 0.141 0.155 0.143 0.154
                        0.158 0.157 0.140 0.125 0.139 0.125 0.145
vgg-s   ordinary+layer  0.150 0.132 0.133 0.138 0.156 0.113 0.111 0.110 0.104 0.125 0.112 0.117
                        0.127 0.127 0.105 0.122 0.136 0.137 0.133 0.131 0.130 0.143 0.125 0.133
                        0.135 0.147 0.119 0.111 0.118 0.100 0.126
vgg-s   interpretable   0.087 0.101 0.093 0.107 0.096 0.084 0.078 0.091 0.082 0.101 0.082 0.089
                        0.097 0.091 0.076 0.098 0.096 0.080 0.092 0.088 0.094 0.101 0.077 0.102
                        0.105 0.094 0.090 0.086 0.078 0.072 0.090
)";

const std::string_view kVocInstability = R"(
alexnet ordinary        0.153 0.131 0.141 0.128 0.145 0.140 0.140
alexnet ordinary+layer  0.147 0.125 0.139 0.112 0.146 0.143 0.136
alexnet masked          0.091 0.090 0.091 0.089 0.086 0.088 0.089
alexnet interpretable   0.090 0.089 0.090 0.088 0.087 0.088 0.088
vgg-16  ordinary        0.145 0.133 0.146 0.127 0.143 0.143 0.139
vgg-16  ordinary+layer  0.125 0.121 0.137 0.102 0.131 0.137 0.125
vgg-16  masked          0.099 0.087 0.102 0.078 0.096 0.101 0.094
vgg-16  interpretable   0.101 0.098 0.105 0.074 0.097 0.100 0.096
vgg-m   ordinary        0.152 0.132 0.143 0.130 0.145 0.141 0.141
vgg-m   ordinary+layer  0.142 0.120 0.139 0.115 0.141 0.142 0.133
vgg-m   masked          0.089 0.095 0.091 0.086 0.086 0.091 0.090
vgg-m   interpretable   0.086 0.094 0.090 0.087 0.084 0.084 0.088
vgg-s   ordinary        0.152 0.131 0.141 0.128 0.144 0.141 0.139
vgg-s   ordinary+layer  0.137 0.115 0.133 0.107 0.133 0.138 0.127
vgg-s   masked          0.093 0.096 0.093 0.086 0.083 0.090 0.090
vgg-s   interpretable   0.089 0.092 0.092 0.087 0.086 0.088 0.089
)";

const std::string_view kCubInstability = R"(
alexnet ordinary        0.150
alexnet ordinary+layer  0.118
alexnet interpretable   0.070
vgg-16  ordinary        0.137
vgg-16  ordinary+layer  0.097
vgg-16  interpretable   0.076
vgg-m   ordinary        0.148
vgg-m   ordinary+layer  0.107
vgg-m   interpretable   0.065
vgg-s   ordinary        0.148
vgg-s   ordinary+layer  0.103
vgg-s   interpretable   0.073
)";

const std::string_view kAnimalPartMultiInstability = R"(
vgg-m   ordinary        0.167
vgg-m   interpretable   0.096
vgg-s   ordinary        0.131
vgg-s   interpretable   0.083
)";

const std::string_view kVocMultiInstability = R"(
vgg-16  ordinary        0.128 0.142
vgg-16  ordinary+layer  0.096 0.099
vgg-16  interpretable   0.073 0.075
vgg-m   ordinary        0.135 0.137
vgg-m   ordinary+layer  0.117 0.107
vgg-m   interpretable   0.083 0.087
vgg-s   ordinary        0.138 0.138
vgg-s   ordinary+layer  0.127 0.099
vgg-s   interpretable   0.078 0.082
)";

const std::string_view kAnimalPartFirstLayerInstability = R"(
vgg-16  ordinary+layer  0.152 0.152 0.142 0.150 0.167 0.125 0.126 0.139 0.137 0.149 0.134 0.143
                        0.139 0.143 0.124 0.145 0.147 0.155 0.138 0.139 0.142 0.148 0.141 0.144
                        0.155 0.156 0.134 0.127 0.139 0.126 0.142
vgg-16  masked          0.143 0.148 0.141 0.146 0.162 0.121 0.120 0.137 0.130 0.142 0.130 0.137
                        0.131 0.140 0.119 0.134 0.143 0.142 0.133 0.131 0.134 0.145 0.134 0.142
                        0.147 0.153 0.129 0.124 0.125 0.116 0.136
vgg-16  interpretable   0.105 0.127 0.131 0.139 0.157 0.102 0.118 0.123 0.105 0.129 0.106 0.112
                        0.118 0.122 0.098 0.106 0.136 0.095 0.125 0.120 0.126 0.128 0.119 0.131
                        0.134 0.118 0.112 0.109 0.098 0.088 0.118
)";

const std::string_view kVocFirstLayerInstability = R"(
vgg-16  ordinary+layer  0.144 0.134 0.146 0.127 0.141 0.142 0.139
vgg-16  masked          0.141 0.126 0.139 0.124 0.138 0.136 0.134
vgg-16  interpretable   0.130 0.127 0.134 0.109 0.131 0.126 0.126
)";

const std::string_view kVocInterpretability = R"(
alexnet ordinary        0.332 0.363 0.340 0.374 0.308 0.373 0.348
alexnet interpretable   0.770 0.565 0.618 0.571 0.729 0.669 0.654
vgg-16  ordinary        0.519 0.458 0.479 0.534 0.440 0.542 0.495
vgg-16  interpretable   0.818 0.653 0.683 0.900 0.795 0.772 0.770
vgg-m   ordinary        0.357 0.365 0.347 0.368 0.331 0.373 0.357
vgg-m   interpretable   0.821 0.632 0.634 0.669 0.736 0.756 0.708
vgg-s   ordinary        0.251 0.269 0.235 0.275 0.223 0.287 0.257
vgg-s   interpretable   0.526 0.366 0.291 0.432 0.478 0.251 0.390
)";

const std::string_view kVocMultiInterpretability = R"(
vgg-16  ordinary        0.710 0.723
vgg-16  interpretable   0.938 0.897
vgg-m   ordinary        0.478 0.502
vgg-m   interpretable   0.770 0.734
vgg-s   ordinary        0.479 0.435
vgg-s   interpretable   0.572 0.601
)";

const std::string_view kAnimalPartPurity = R"(
vgg-16  interpretable   0.614 0.624 0.585 0.527 0.531 0.607 0.581 0.606 0.660 0.609 0.572 0.583
                        0.614 0.535 0.679 0.677 0.559 0.532 0.530 0.564 0.466 0.572 0.573 0.544
                        0.565 0.855 0.657 0.562 0.718 0.697 0.595
vgg-16  masked          0.331 0.441 0.342 0.352 0.362 0.339 0.344 0.482 0.449 0.393 0.344 0.368
                        0.369 0.364 0.356 0.419 0.407 0.343 0.363 0.393 0.389 0.293 0.440 0.367
                        0.315 0.321 0.377 0.333 0.391 0.383 0.372
vgg-m   interpretable   0.533 0.442 0.385 0.444 0.430 0.408 0.430 0.587 0.564 0.466 0.572 0.455
                        0.442 0.472 0.452 0.434 0.397 0.421 0.412 0.420 0.425 0.420 0.584 0.435
                        0.441 0.419 0.400 0.399 0.541 0.468 0.459
vgg-m   masked          0.307 0.251 0.249 0.198 0.266 0.255 0.212 0.384 0.393 0.389 0.293 0.345
                        0.345 0.316 0.245 0.320 0.283 0.224 0.278 0.290 0.397 0.284 0.411 0.315
                        0.232 0.175 0.225 0.173 0.334 0.343 0.285
vgg-s   interpretable   0.454 0.453 0.389 0.409 0.389 0.414 0.398 0.431 0.456 0.442 0.395 0.448
                        0.419 0.411 0.405 0.416 0.430 0.469 0.384 0.403 0.439 0.404 0.471 0.386
                        0.386 0.436 0.394 0.408 0.459 0.471 0.420
vgg-s   masked          0.245 0.265 0.186 0.189 0.216 0.212 0.209 0.316 0.330 0.284 0.197 0.215
                        0.197 0.212 0.179 0.217 0.210 0.215 0.177 0.200 0.323 0.196 0.388 0.202
                        0.184 0.183 0.188 0.185 0.262 0.252 0.226
)";

const std::string_view kVocPurity = R"(
vgg-16  interpretable   0.568 0.656 0.534 0.573 0.570 0.492 0.566
vgg-16  masked          0.385 0.373 0.342 0.435 0.382 0.303 0.370
vgg-m   interpretable   0.444 0.616 0.395 0.540 0.408 0.387 0.465
vgg-m   masked          0.230 0.341 0.185 0.295 0.250 0.215 0.253
vgg-s   interpretable   0.418 0.437 0.390 0.398 0.421 0.369 0.406
vgg-s   masked          0.224 0.312 0.165 0.234 0.208 0.161 0.217
)";

const std::string_view kAnimalPartAccuracy = R"(
alexnet ordinary        96.28
alexnet interpretable   95.38
vgg-m   ordinary        97.34
vgg-m   interpretable   95.77
vgg-s   ordinary        97.62
vgg-s   interpretable   95.64
vgg-16  ordinary        98.58
vgg-16  interpretable   96.67
)";

const std::string_view kVocAccuracy = R"(
alexnet ordinary        95.40
alexnet masked          93.98
alexnet interpretable   93.93
vgg-m   ordinary        96.82
vgg-m   masked          93.13
vgg-m   interpretable   94.17
vgg-s   ordinary        97.74
vgg-s   masked          93.83
vgg-s   interpretable   95.47
vgg-16  ordinary        98.66
vgg-16  masked          97.02
vgg-16  interpretable   95.39
)";

const std::string_view kCubAccuracy = R"(
alexnet ordinary        95.59
alexnet interpretable   95.35
vgg-m   ordinary        97.34
vgg-m   interpretable   96.03
vgg-s   ordinary        97.24
vgg-s   interpretable   95.82
vgg-16  ordinary        98.91
vgg-16  interpretable   96.51
)";

const std::string_view kAnimalPartMultiAccuracy = R"(
vgg-m   ordinary        96.73
vgg-m   interpretable   97.99
vgg-s   ordinary        96.98
vgg-s   interpretable   98.72
)";

const std::string_view kVocMultiAccuracy = R"(
vgg-m   ordinary        93.88 81.93
vgg-m   interpretable   96.19 88.03
vgg-s   ordinary        94.05 78.15
vgg-s   interpretable   96.78 86.13
vgg-16  ordinary        97.97 89.71
vgg-16  interpretable   98.50 91.60
)";

const std::string_view kCubSingleFilter = R"(
alexnet ordinary        68.7
alexnet interpretable   75.1
vgg-m   ordinary        69.9
vgg-m   interpretable   80.2
vgg-16  ordinary        72.1
vgg-16  interpretable   82.4
)";

const std::string_view kActivation = R"(
vgg-m   interpretable   107.9 7.5 6.2 1.1
vgg-m   masked          18.6 6.3 4.7 1.1
vgg-s   interpretable   32.1 10.5 18.8 3.1
vgg-s   masked          18.9 8.2 11.5 2.3
vgg-16  interpretable   948.9 81.5 106.7 5.1
vgg-16  masked          40.5 12.9 67.0 6.0
)";

const std::string_view kCubAdversarial = R"(
vgg-m   ordinary        0.00302
vgg-m   interpretable   0.00243
vgg-s   ordinary        0.00305
vgg-s   interpretable   0.00266
vgg-16  ordinary        0.00293
vgg-16  interpretable   0.00280
)";

}  // namespace partwise::experiments
