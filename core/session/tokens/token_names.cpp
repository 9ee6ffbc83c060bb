#include "core/session/tokens/token_names.h"

#include <algorithm>

#include "core/io/inputs/text_input.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"
#include "core/session/outputs/output_tokens.h"
#include "core/session/session.h"

namespace sonde::session {

namespace {

constexpr std::int64_t kMaxPositions = std::int64_t{1} << 16;  ///< that have names

bool areIds(const tensor::Value& value) {
    if (!value.isTensor()) return false;
    const tensor::Tensor& tensor = value.tensor();
    return tensor.defined() && tensor::isInteger(tensor.dtype()) && tensor.rank() >= 1 && tensor.rank() <= 2 &&
           tensor.numel() > 0;
}

/// What the last run was given, else what the next one will be.
const tensor::Value* givenValue(const Session& session, const Input& input) {
    const Run& run = session.runs().last();
    const auto& given = session.document()->graph->inputs();
    const auto position = static_cast<std::size_t>(std::ranges::find(given, input.node) - given.begin());
    if (run.recording && position < run.inputs.size()) return &run.inputs[position];
    return input.value ? &*input.value : nullptr;
}

}  // namespace

std::string TokenNames::of(std::int64_t id) const {
    return tokenizer && tokenizer->token(id) ? tokenizer->tokenText(id) : std::string();
}

std::string TokenNames::at(std::int64_t position) const {
    return position >= 0 && position < static_cast<std::int64_t>(ids.size())
               ? of(ids[static_cast<std::size_t>(position)])
               : std::string();
}

TokenNamesRequest tokenNamesRequest(const Session& session, const std::string& vocabulary) {
    TokenNamesRequest request;
    if (!session.document()) return request;
    request.vocabulary = vocabulary.empty() ? outputs::tokenFileBeside(*session.document()) : vocabulary;
    for (const Input& input : session.inputs().all()) {
        const tensor::Value* const value = givenValue(session, input);
        if (!value || !areIds(*value) || io::textRoleOf(input.name) != io::TextRole::Ids) continue;
        // Of an encoder and a decoder: which one a value is of is not known.
        if (!request.ids.empty()) {
            request.ids.clear();
            break;
        }
        const tensor::Tensor& ids = value->tensor();
        const std::int64_t count = std::min(ids.dim(ids.rank() - 1), kMaxPositions);
        for (std::int64_t i = 0; i < count; ++i) request.ids.push_back(ids.toInt64(i));
        request.item = input.spec.source;
    }
    return request;
}

TokenNames findTokenNames(const TokenNamesRequest& request) {
    TokenNames names{outputs::tokenizerOfItem(request.item), request.ids};
    if (!names.tokenizer && !request.vocabulary.empty())
        if (auto opened = io::openTokenizer(request.vocabulary)) names.tokenizer = std::move(*opened);
    return names;
}

}  // namespace sonde::session
