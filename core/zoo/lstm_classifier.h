#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// A class for a text: embedding, two LSTM layers, their last state beside the mean of all, a linear layer.
/// tokens [N,T] (int64) -> log-probabilities [N,classes]. Settings: classes, vocab, dim, hidden.
std::shared_ptr<nn::Module> lstmClassifier(const Settings& settings);

}  // namespace sonde::zoo
