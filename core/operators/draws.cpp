// Where the arguments of an operator say that it drops elements. Sources: native_functions.yaml of PyTorch 1.13 and
// 2.x, RNN.cpp (dropout stands between layers: one layer has none), and Dropout-12 of ONNX.

#include "core/operators/draws.h"

#include <string>

#include "core/operators/names.h"
#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

/// `position` counts from 0; without a name: there is none.
struct Told {
    std::size_t position = 0;
    std::string_view name;
    double fallback = 0;
};

struct Drawing {
    std::string_view domain, names;  ///< separated by spaces
    Told rate;                       ///< above 0; not known: it is
    Told trains;
    Told layers;  ///< above 1, which have dropout between them
};

constexpr Drawing kDrawing[] = {
    {"aten",
     "dropout feature_dropout alpha_dropout feature_alpha_dropout native_dropout",
     {1, "p", 0.5},
     {2, "train", 1},
     {}},
    {"aten", "rrelu", {}, {3, "training", 0}, {}},
    {"aten", "rrelu_with_noise", {}, {4, "training", 0}, {}},
    {"aten", "lstm gru rnn_tanh rnn_relu", {5, "dropout", 0}, {6, "train", 0}, {4, "num_layers", 1}},
    {"aten", "scaled_dot_product_attention _scaled_dot_product_attention", {4, "dropout_p", 0}, {}, {}},
    // Before version 12 there is no third input: it never trains.
    {"", "Dropout", {1, "ratio", 0.5}, {2, "training_mode", 0}, {}},
};

const Drawing* drawingOf(std::string_view domain, std::string_view operatorName) {
    if (domain == "ai.onnx") domain = {};
    const std::string plain = outOfPlaceName(operatorName);
    for (const Drawing& each : kDrawing)
        if (each.domain == domain && hasName(each.names, withoutOverload(plain))) return &each;
    return nullptr;
}

}  // namespace

std::optional<bool> drawsNumbers(std::string_view domain, std::string_view operatorName, const NumberOfCall& numberOf) {
    const Traits& traits = traitsOf(domain, operatorName);
    const bool mayDraw = traits.is(Trait::Random) || traits.is(Trait::Attends) || traits.opClass == OpClass::Recurrent;
    if (!mayDraw) return false;
    const Drawing* const drawing = drawingOf(domain, operatorName);
    if (!drawing) return traits.is(Trait::Random);
    // Of packed sequences the number of steps of each batch comes behind the data.
    const std::size_t shift = traits.opClass == OpClass::Recurrent && overloadOf(operatorName) == "data" ? 1 : 0;
    const auto isAbove = [&](const Told& told, double limit) {
        if (told.name.empty()) return true;
        const auto number = numberOf(told.position + shift, told.name, told.fallback);
        return !number || *number > limit;
    };
    if (!isAbove(drawing->rate, 0) || !isAbove(drawing->layers, 1)) return false;
    const Told& trains = drawing->trains;
    if (trains.name.empty()) return true;
    const auto flag = numberOf(trains.position + shift, trains.name, trains.fallback);
    return flag ? std::optional(*flag != 0) : std::nullopt;
}

}  // namespace sonde::operators
