#include "core/session/info_formulas.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::session {

namespace {

struct Formula {
    std::string_view title, text;
};

constexpr Formula kFormulas[] = {
    {"SHA-256", "SHA-256 of all bytes of the file (FIPS 180-4)"},
    {"file size", "size of the model file; data files are counted apart"},
    {"data file", "a file beside the model that weights are in, with its size and SHA-256"},
    {"missing file",
     "a data file that cannot be opened, why, and the tensors in it: what needs their values is refused"},
    {"opset", "version of each set of operators that the file imports"},
    {"metadata", "what the file's author added (metadata_props)"},
    {"doc string", "what the file says of a graph, a node or a value in words (doc_string)"},
    {"function", "an operator that the file defines itself; its body is a part of the graph"},
    {"dimension", "a size that the file leaves open: where inputs have it, and which sizes of outputs follow from it"},
    {"parameters", "trainable values: elements of weights and biases that operators read; tied ones count once"},
    {"buffers", "values that are kept but not trained: running mean and variance"},
    {"constants", "stored values that are neither: shapes, axes, scalars, masks"},
    {"stored", "parameters + buffers + constants"},
    {"bytes", "stored bytes of each element type = elements × item size, each tensor once"},
    {"tied", "one tensor in memory under several names"},
    {"unused", "stored, but read by no operation"},
    {"modules", "modules of the model's own hierarchy, the root included"},
    {"nodes", "values that operations compute, bodies of branches and loops included"},
    {"depth",
     "depth(node) = 1 + the largest depth of its inputs; the most of all outputs; branches and loops are one operation"},
    {"field",
     "receptive field r = 1 + Σ (k − 1)·d·∏ s over the layers before, k kernel, d dilation, s strides (Araujo, Norris, "
     "Sim 2019, Distill); all: global pooling, attention, products over the axis"},
    {"multiply-adds",
     "Σ over convolutions, matrix products, attention and recurrent layers: results × products that each sums up"},
    {"FLOPs", "2 × multiply-adds + 1 for each other operation on a number; views and copies take none"},
    {"bytes read", "Σ over operations: inputs, weights among them, once each; written: outputs"},
    {"intensity", "FLOPs ÷ (bytes read + bytes written)"},
    {"activations",
     "Σ bytes of all results that are memory of their own, in loops those of one iteration; at once: the most of inputs "
     "and results that are needed together"},
    {"not counted", "operations without a rule, or whose sizes are not known: in none of the sums"},
    {"control flow", "operations that decide which of their bodies run, and how often"},
    {"operator", "how often it is called, bodies included"},
};

/// Figures that have another name in JSON and in comparisons.
constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
    {"bytes written", "bytes read"}, {"parameter bytes", "bytes"}, {"activation bytes", "activations"}};

}  // namespace

std::string infoFormula(std::string_view title) {
    const auto* key = std::ranges::find(kKeys, title, &std::pair<std::string_view, std::string_view>::first);
    if (key != std::end(kKeys)) title = key->second;
    const auto* found = std::ranges::find(kFormulas, title, &Formula::title);
    return found == std::end(kFormulas) ? std::string() : std::string(found->text);
}

}  // namespace sonde::session
