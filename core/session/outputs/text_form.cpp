// Text of token ids, or of the most likely token at each position.

#include <algorithm>

#include "core/base/count_text.h"
#include "core/session/outputs/forms.h"

namespace sonde::session::outputs {

namespace {

constexpr std::int64_t kMaxShownTokens = 4'096;

/// [N,T,V] of a model whose tokens are [N,T]: logits of the token at, or after, each position.
bool isTokenLogits(const Facts& facts) {
    if (!facts.isFloat() || facts.rank() != 3 || facts.dim(-1) < 2 || facts.stats.count == 0) return false;
    const InputFact* const tokens = facts.tokenInput();
    return tokens && tokens->tensor.dim(tokens->tensor.rank() - 1) == facts.dim(-2);
}

bool isTokenIds(const Facts& facts) {
    return facts.isInteger() && facts.rank() >= 1 && facts.rank() <= 2 && facts.stats.count > 0 &&
           facts.stats.minimum >= 0 && facts.stats.maximum <= 1e9;
}

int suitsText(const Facts& facts) {
    // Of hidden states the last dimension is no vocabulary.
    if (isTokenLogits(facts))
        return facts.isNamed({"hidden", "state", "embed", "feature"}) ? kUnlikely
               : facts.isNamed({"logit", "prob", "score"})            ? kVeryLikely
                                                                      : kLikely;
    if (!isTokenIds(facts))
        return facts.isFloat() && facts.rank() == 3 && facts.dim(-1) >= 2 && facts.stats.count > 0 ? kUnlikely
                                                                                                   : kCannot;
    if (facts.isNamed({"token", "ids", "sequence", "text"})) return kVeryLikely;
    return facts.tokenInput() && facts.stats.count > 1 ? kLikely : kUnlikely;
}

std::int64_t textSamples(const Facts& facts) {
    return facts.rank() >= 2 && (facts.isInteger() || facts.rank() == 3) ? facts.tensor.dim(0) : 1;
}

std::string tokenOf(const FormRequest& request, std::int64_t id) {
    return request.tokens ? request.tokens->token(id) : std::string();
}

base::Result<Made> makeText(const FormRequest& request) {
    const tensor::Tensor& tensor = request.facts.tensor;
    TokenText text;
    text.isFromLogits = !request.facts.isInteger();
    text.count = tensor.dim(tensor.rank() - (text.isFromLogits ? 2 : 1));
    const std::int64_t width = text.isFromLogits ? request.facts.dim(-1) : 1;
    const std::int64_t first = sampleOf(request, textSamples(request.facts)) * text.count * width;
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < std::min(text.count, kMaxShownTokens); ++i) {
        if (request.stop.stop_requested()) return base::cancelled();
        if (!text.isFromLogits) {
            ids.push_back(tensor.toInt64(first + i));
            text.tokens.push_back({ids.back(), tokenOf(request, ids.back()), 0});
            continue;
        }
        const std::vector<double> values = numbersOf(tensor, first + i * width, width);
        const std::vector<std::int64_t> best = largest(width, 1, values);
        if (best.empty()) return base::usageError("position " + std::to_string(i) + " has nothing but NaN");
        ids.push_back(best.front());
        text.tokens.push_back(
            {best.front(), tokenOf(request, best.front()), softmax(values)[static_cast<std::size_t>(best.front())]});
    }
    if (text.isFromLogits && text.count > 0) {
        const std::vector<double> values = numbersOf(tensor, first + (text.count - 1) * width, width);
        const std::vector<double> shares = softmax(values);
        for (const std::int64_t id : largest(width, request.choice.top, values))
            text.next.push_back({id, tokenOf(request, id), shares[static_cast<std::size_t>(id)]});
    }
    Made made;
    if (request.tokens) {
        text.text = request.tokens->text(ids);
        const std::int64_t size = request.tokens->idCount();
        const std::int64_t last = ids.empty() ? -1 : *std::ranges::max_element(ids);
        if (text.isFromLogits && size != width)
            made.notes.push_back("the vocabulary file has " + base::countText(size) + " tokens, the output has " +
                                 base::countText(width));
        else if (last >= size) made.notes.push_back("the vocabulary file ends before id " + std::to_string(last));
    }
    if (text.count > kMaxShownTokens)
        made.notes.push_back("the first " + base::countText(kMaxShownTokens) + " of " + base::countText(text.count) +
                             " tokens");
    made.content = std::move(text);
    return made;
}

}  // namespace

Form textForm() {
    return {.id = "text",
            .title = "Text",
            .description = "Token ids, or the most likely token at each position, as text",
            .suits = suitsText,
            .make = makeText,
            .usesVocabulary = true,
            .usesTop = true,
            .usesSample = true,
            .samples = textSamples};
}

}  // namespace sonde::session::outputs
