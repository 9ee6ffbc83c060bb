#include "core/session/generation/generation.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <utility>

#include "core/document/input_infos.h"
#include "core/io/inputs/text_input.h"
#include "core/io/inputs/text_item.h"
#include "core/session/outputs/forms.h"

namespace sonde::session {

namespace {

using base::Result;
using base::usageError;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

/// A row of integers, whatever dimensions of 1 are around it.
bool isRow(const Tensor& tensor) {
    return tensor.rank() >= 1 && tensor.rank() <= 2 && tensor.numel() > 0 &&
           tensor.dim(tensor.rank() - 1) == tensor.numel();
}

std::vector<std::int64_t> numbersOfRow(const Tensor& row) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < row.numel(); ++i) numbers.push_back(row.toInt64(i));
    return numbers;
}

/// Numbers with rank and dtype of a row that was given.
Result<Value> rowLike(const Tensor& given, const std::vector<std::int64_t>& numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const Shape shape = given.rank() == 1 ? Shape{count} : Shape{1, count};
    SONDE_ASSIGN(Tensor row, Tensor::of<std::int64_t>(shape, numbers).cast(given.dtype()));
    return Value(std::move(row));
}

/// Whether a value may be given to an input of a declared type.
bool fits(const Value& value, const tensor::TypeInfo& type) {
    if (!value.isTensor() || !type.shape) return true;
    const Shape& shape = value.tensor().shape();
    if (shape.rank() != type.shape->size()) return false;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
        if ((*type.shape)[axis].known() && (*type.shape)[axis].value != shape[axis]) return false;
    return true;
}

/// "[[1,2,3]]".
std::string listOf(const std::vector<std::int64_t>& numbers) { return fmt::format("[[{}]]", fmt::join(numbers, ",")); }

/// Position of a number that is drawn by shares, whose sum need not be 1.
std::size_t drawn(const std::vector<double>& shares, double uniform) {
    double left = uniform * std::accumulate(shares.begin(), shares.end(), 0.0);
    std::size_t last = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (shares[i] == 0) continue;
        last = i;
        left -= shares[i];
        if (left < 0) break;
    }
    return last;
}

}  // namespace

Generation::Role Generation::roleOf(const document::NamedNode& input, const tensor::TypeInfo& type) {
    switch (io::textRoleOf(input.name)) {
        case io::TextRole::Mask: return Role::Mask;
        case io::TextRole::Types: return Role::Types;
        case io::TextRole::Positions: return Role::Positions;
        case io::TextRole::Ids: break;
    }
    return type.kind && io::takesText(type) ? Role::Ids : Role::Stays;
}

Result<Generation> Generation::of(const document::Document& document, const GenerationRequest& request) {
    Generation made;
    made.m_request = request;
    made.m_random = base::Random(request.seed);
    SONDE_ASSIGN(made.m_fed, fedValues(document, request.fed));
    std::optional<std::size_t> ids;
    made.m_graph = document.graph;
    made.m_named = document.inputs;
    const std::vector<io::InputInfo> infos = document::requiredInputInfos(document);
    for (std::size_t i = 0; i < document.inputs.size(); ++i) {
        const document::NamedNode& input = document.inputs[i];
        made.m_parts.push_back({input.name, infos[i].required.value_or(tensor::TypeInfo()),
                                roleOf(input, document.graph->node(input.node).type)});
    }
    for (const FedValue& fed : made.m_fed) made.m_parts[fed.input].role = Role::Fed;
    for (std::size_t i = 0; i < made.m_parts.size(); ++i) {
        Role& role = made.m_parts[i].role;
        if (role != Role::Ids) continue;
        // Of two inputs that take ids the first counts: an encoder's or a decoder's cannot be told from the names.
        if (ids) role = Role::Stays;
        else ids = i;
    }
    if (!ids) return usageError("no input of the model takes token ids", document.title, "integers of shape [1,T]");
    made.m_idsInput = *ids;
    for (const document::NamedNode& output : document.outputs) made.m_outputs.push_back(output.name);
    return made;
}

Result<std::string> Generation::inputData(const std::vector<std::int64_t>& prompt, std::string_view others) const {
    const auto given = io::splitSpecification(others);
    std::string made = m_parts[m_idsInput].name + ":" + listOf(prompt);
    for (const std::string_view item : given) made.append(";").append(item);
    std::vector<std::int64_t> positions(prompt.size());
    std::iota(positions.begin(), positions.end(), 0);
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        const std::string place = m_parts[i].name + ":";
        const auto names = [&place](std::string_view item) { return item.starts_with(place); };
        if (std::ranges::any_of(given, names)) continue;
        const Role role = m_parts[i].role;
        if (role == Role::Fed) {
            SONDE_ASSIGN(const std::string state, emptyState(m_named[i], *m_graph));
            made += ";" + place + state;
        }
        if (role == Role::Mask) made += ";" + place + listOf(std::vector<std::int64_t>(prompt.size(), 1));
        if (role == Role::Types) made += ";" + place + listOf(std::vector<std::int64_t>(prompt.size(), 0));
        if (role == Role::Positions) made += ";" + place + listOf(positions);
    }
    return made;
}

Result<void> Generation::begin(std::vector<Value> given) {
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        const InputPart& part = m_parts[i];
        if (part.role == Role::Stays || part.role == Role::Fed) continue;
        if (i >= given.size() || !given[i].isTensor() || !isRow(given[i].tensor()))
            return usageError("not one text: integers [T] or [1,T] are needed", "input '" + part.name + "'");
    }
    m_inputs = std::move(given);
    m_ids = numbersOfRow(m_inputs[m_idsInput].tensor());
    m_endReason.clear();
    return {};
}

Result<GeneratedToken> Generation::take(const std::vector<Value>& outputs) {
    SONDE_ASSIGN(const Tensor logits, logitsOf(outputs));
    const std::int64_t width = logits.dim(logits.rank() - 1);
    if (m_request.end && *m_request.end >= width)
        return usageError("the end token " + std::to_string(*m_request.end) + " is none of the model's " +
                              std::to_string(width) + " tokens",
                          "--end");
    SONDE_ASSIGN(const GeneratedToken token, chosen(outputs::numbersOf(logits, logits.numel() - width, width)));
    m_ids.push_back(token.id);
    if (m_request.end == token.id) m_endReason = "the end token came";
    else SONDE_TRY(advance(outputs, token.id));
    return token;
}

Result<Tensor> Generation::logitsOf(const std::vector<Value>& outputs) const {
    const Tensor* found = nullptr;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (std::ranges::find(m_fed, i, &FedValue::output) != m_fed.end() || !outputs[i].isTensor()) continue;
        const Tensor& tensor = outputs[i].tensor();
        const bool isOneText = tensor.rank() == 2 || (tensor.rank() == 3 && tensor.dim(0) == 1);
        if (!tensor::isFloating(tensor.dtype()) || !isOneText || tensor.numel() == 0) continue;
        const bool isNamed = i < m_outputs.size() && m_outputs[i].find("logits") != std::string::npos;
        if (!found || isNamed) found = &tensor;
        if (isNamed) break;
    }
    if (!found) return usageError("no output has logits: floats of shape [1,T,V] or [1,V]");
    return found->contiguous();
}

Result<GeneratedToken> Generation::chosen(const std::vector<double>& logits) {
    const auto count = static_cast<std::int64_t>(logits.size());
    const std::int64_t top = m_request.temperature == 0 ? 1 : m_request.top > 0 ? m_request.top : count;
    const auto best = outputs::largest(count, static_cast<int>(std::min(top, count)), logits);
    if (best.empty()) return base::runError("the logits of the last position are nothing but NaN");
    std::size_t place = 0;
    if (m_request.temperature > 0) {
        std::vector<double> scaled;
        for (const std::int64_t id : best)
            scaled.push_back(logits[static_cast<std::size_t>(id)] / m_request.temperature);
        place = drawn(outputs::softmax(scaled), m_random.uniform());
    }
    const std::int64_t id = best[place];
    return GeneratedToken{id, outputs::softmax(logits)[static_cast<std::size_t>(id)]};
}

/// The inputs of the next run. An input without room ends the text, and all of them stay as they were.
Result<void> Generation::advance(const std::vector<Value>& outputs, std::int64_t token) {
    std::vector<Value> next = m_inputs;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        const Role role = m_parts[i].role;
        if (role == Role::Stays || role == Role::Fed) continue;
        const Tensor& before = m_inputs[i].tensor();
        std::vector<std::int64_t> numbers = numbersOfRow(before);
        const std::int64_t added = role == Role::Ids         ? token
                                   : role == Role::Mask      ? 1
                                   : role == Role::Positions ? numbers.back() + 1
                                                             : numbers.back();
        // A mask is of the whole text, what is in the cache included.
        if (!m_fed.empty() && role != Role::Mask) numbers.clear();
        numbers.push_back(added);
        SONDE_ASSIGN(next[i], rowLike(before, numbers));
    }
    for (const FedValue& fed : m_fed) {
        if (fed.output >= outputs.size())
            return usageError("the run left no output '" + m_outputs[fed.output] + "'", "--feed");
        next[fed.input] = outputs[fed.output];
    }
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        if (m_parts[i].role == Role::Stays || fits(next[i], m_parts[i].type)) continue;
        m_endReason = "input '" + m_parts[i].name + "' takes " + m_parts[i].type.text() + ", the next would be " +
                      next[i].typeText();
        return {};
    }
    m_inputs = std::move(next);
    return {};
}

}  // namespace sonde::session
