#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/tensor/value.h"

namespace sonde::session::debug {

/// Elements of a tensor that an answer shows in full, and of a larger one.
inline constexpr std::int64_t kMaxShown = 1'000;
inline constexpr std::int64_t kShownOfMany = 64;

/// "value" of an answer: a number, a bool or a text as it is, a tensor as nested lists with "dtype" and "shape" beside
/// it. Of a tensor with more than kMaxShown elements only the first, in a row, with "truncated". NaN and infinity,
/// which JSON has not, are "nan", "inf" and "-inf".
void addValue(nlohmann::ordered_json& answer, const tensor::Value& value);

/// {"min","max","mean","std","nan","inf","zero","dtype","shape"}; the first four are null without a finite element.
nlohmann::ordered_json statsJson(const tensor::Tensor& tensor);

}  // namespace sonde::session::debug
