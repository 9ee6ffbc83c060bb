#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/document/document_types.h"

namespace sonde::session {

/// An output of one run that is an input of the next: the cache of keys and values of a decoder, the state of a
/// recurrent network. Positions in Document::outputs and Document::inputs.
struct FedValue {
    std::size_t output = 0;
    std::size_t input = 0;

    bool operator==(const FedValue&) const = default;
};

/// Pairs by "OUTPUT=INPUT", where a `*` on both sides stands for the same text: "present.*=past_key_values.*". Nothing
/// is asked for: the pairs whose names are those of Hugging Face Optimum and of ONNX Runtime's exporters,
/// "present.0.key" and "past_key_values.0.key", "present_0" and "past_0". In the order of the inputs. Errors (Usage): a
/// text that is no pair, or that no output and input go by; an input that two outputs go to.
base::Result<std::vector<FedValue>> fedValues(const document::Document& document,
                                              const std::vector<std::string>& asked = {});

/// What a fed input begins with where nothing is given: zeros, in the grammar of --input-data. Of an open dimension the
/// first, and each that has the name of the batch, is 1; another one, such as the tokens in a cache, is 0. Error
/// (Usage): neither rank nor type is known.
base::Result<std::string> emptyState(const document::NamedNode& input, const graph::InternalGraph& graph);

}  // namespace sonde::session
