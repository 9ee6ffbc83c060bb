#include "core/analysis/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/analysis/compare_sequence.h"
#include "core/analysis/counted_names.h"
#include "core/analysis/no_elements.h"
#include "core/analysis/reference_keys.h"
#include "core/analysis/tensor_stats.h"
#include "core/base/counted_text.h"
#include "core/base/number_text.h"

namespace sonde::analysis {

using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

constexpr const char* kNotComputed = "not computed";

/// A reference value in any of its forms.
struct Expected {
    std::optional<Tensor> whole, shape, stats, head;
};

/// Keys of one case, cut into what they mean.
struct Case {
    std::string label;
    std::map<std::string, std::string> inputs;                 ///< name → key
    std::vector<std::pair<std::string, std::string>> outputs;  ///< name with summary suffix → key, in file order
    std::vector<std::pair<std::string, std::string>> nodes;
};

bool startsWith(const std::string& text, std::string_view prefix) {
    return text.compare(0, prefix.size(), prefix) == 0;
}

/// "case12." at the start of a key, or nothing.
std::string casePrefix(const std::string& key) {
    if (!startsWith(key, "case")) return {};
    std::size_t end = 4;
    while (end < key.size() && key[end] >= '0' && key[end] <= '9') ++end;
    return end > 4 && end < key.size() && key[end] == '.' ? key.substr(0, end) : std::string();
}

std::vector<Case> casesOf(const std::vector<std::string>& keys) {
    std::vector<Case> cases;
    for (const std::string& key : keys) {
        const std::string prefix = casePrefix(key);
        const std::string rest = prefix.empty() ? key : key.substr(prefix.size() + 1);
        const bool isInput = startsWith(rest, "in."), isOutput = startsWith(rest, "out."),
                   isNode = startsWith(rest, "node.");
        if (!isInput && !isOutput && !isNode) continue;
        const std::string label = prefix.empty() ? "case 0" : prefix;
        auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.label == label; });
        if (found == cases.end()) {
            cases.push_back({label, {}, {}, {}});
            found = cases.end() - 1;
        }
        const std::string name = rest.substr(rest.find('.') + 1);
        if (isInput) found->inputs.emplace(name, key);
        if (isOutput) found->outputs.emplace_back(name, key);
        if (isNode) found->nodes.emplace_back(name, key);
    }
    // Whatever the order of the archive: "case 0", "case1", …, "case10". Shorter labels have smaller numbers.
    std::stable_sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
        if ((a.label == "case 0") != (b.label == "case 0")) return a.label == "case 0";
        return a.label.size() != b.label.size() ? a.label.size() < b.label.size() : a.label < b.label;
    });
    return cases;
}

/// Splits a summary suffix off: "x.shape" → "x" and "shape".
std::pair<std::string, std::string> summarySuffix(const std::string& name) {
    for (const std::string_view suffix : {".shape", ".stats", ".head"}) {
        if (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
            return {name.substr(0, name.size() - suffix.size()), std::string(suffix.substr(1))};
        }
    }
    return {name, {}};
}

void addDifference(Difference& total, const Difference& part) {
    total.maxAbsolute = std::max(total.maxAbsolute, part.maxAbsolute);
    total.maxRelative = std::max(total.maxRelative, part.maxRelative);
    total.ok = total.ok && part.ok;
}

/// What summaries may be apart: the largest magnitude of the whole value allows it. Mask values dominate mean and
/// deviation, but allow nothing to the other elements.
struct SummaryTolerance {
    Tolerance statistics, elements;
};

/// `own`: the model's mean, deviation, minimum, maximum. The mean of integers is rounded. Which extreme is a mask is
/// told by the model's own elements.
SummaryTolerance summaryTolerance(const Tensor& actual, const Expected& expected, const std::array<double, 4>& own,
                                  const Tolerances& tolerances) {
    Tolerance tolerance = tolerances.of(actual.dtype(), expected.whole ? expected.whole->dtype() : actual.dtype());
    const bool isExact = tolerances.integers && (tensor::isInteger(actual.dtype()) || actual.dtype() == DType::Bool);
    if ((tolerances.fixed && !isExact) || !expected.stats || expected.stats->numel() != 4)
        return {tolerance, tolerance};
    double largest = 0, largestUnmasked = 0;
    bool anyUnmasked = false;
    for (const int i : {2, 3}) {
        const double extreme = expected.stats->toDouble(i);
        if (std::isfinite(extreme)) largest = std::max(largest, std::abs(extreme));
    }
    const double maskFrom = largest < kMinMask ? std::numeric_limits<double>::infinity() : smallestMask(actual);
    for (const int i : {2, 3}) {
        const double extreme = expected.stats->toDouble(i);
        if (!std::isfinite(extreme)) continue;
        if (std::abs(extreme) >= maskFrom && extreme == own[static_cast<std::size_t>(i)]) continue;
        largestUnmasked = std::max(largestUnmasked, std::abs(extreme));
        anyUnmasked = true;
    }
    const double ofLargest = std::exchange(tolerance.ofLargest, 0);
    tolerance.relative = std::max(tolerance.relative, 1e-9);
    SummaryTolerance result{tolerance, tolerance};
    result.statistics.absolute += ofLargest * largest;
    if (anyUnmasked) result.elements.absolute += ofLargest * largestUnmasked;
    else result.elements.ofLargest = ofLargest;
    return result;
}

/// A shape that is stored as a vector of its dimensions.
Shape shapeFrom(const Tensor& dimSizes) {
    Shape shape;
    for (std::int64_t i = 0; i < dimSizes.numel(); ++i) shape.push_back(dimSizes.toInt64(i));
    return shape;
}

/// The first elements of a tensor in row-major order.
Tensor headOf(const Tensor& tensor, std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < std::min(count, tensor.numel()); ++i) values.push_back(tensor.toDouble(i));
    return vectorOf(values);
}

/// Mean, population deviation, minimum, maximum as numpy has them: NaN and infinite elements take part.
std::array<double, 4> plainStats(const Tensor& tensor) {
    const TensorStats stats = tensorStats(tensor);
    if (stats.nanCount == 0 && stats.infCount == 0) return {stats.mean, stats.deviation, stats.minimum, stats.maximum};
    double sum = 0, low = tensor.toDouble(0), high = low;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const double value = tensor.toDouble(i);
        sum += value;
        if (value < low || std::isnan(value)) low = value;
        if (value > high || std::isnan(value)) high = value;
    }
    return {sum / static_cast<double>(tensor.numel()), std::nan(""), low, high};
}

void compareValue(ComparedValue& row, const Value* value, const Expected& expected, const Tolerances& tolerances) {
    const auto fail = [&row](std::string note) {
        row.ok = false;
        row.note = std::move(note);
    };
    row.hasValue = value != nullptr;
    if (!value) return fail(kNotComputed);
    const std::optional<Tensor> actual = asTensor(*value);
    row.hasValue = actual.has_value();
    if (!actual) return fail("is " + value->typeText() + ", not a tensor");
    if (value->isTensor()) row.dtype = actual->dtype();
    if (value->isTensor() && expected.whole) row.expectedType = expected.whole->dtype();
    const bool hasStats = expected.stats && expected.stats->numel() == 4;
    const auto stats = hasStats ? plainStats(*actual) : std::array<double, 4>{};
    const auto [ofStatistics, ofElements] = summaryTolerance(*actual, expected, stats, tolerances);
    Difference total;
    if (expected.whole) {
        if (actual->shape() != expected.whole->shape()) {
            return fail("shape " + actual->shape().text() + " instead of " + expected.whole->shape().text());
        }
        const Difference whole =
            difference(*actual, *expected.whole, tolerances.of(actual->dtype(), expected.whole->dtype()));
        addDifference(total, whole);
        row.cosine = whole.cosine;
        row.snr = whole.snr;
        if (whole.masks) row.maskText = whole.masks->text();
    }
    if (expected.shape) {
        const Shape shape = shapeFrom(*expected.shape);
        if (actual->shape() != shape) return fail("shape " + actual->shape().text() + " instead of " + shape.text());
    }
    if (hasStats) {
        addDifference(total, difference(vectorOf(stats), *expected.stats, ofStatistics));
        const std::array<double, 2> extremes{expected.stats->toDouble(2), expected.stats->toDouble(3)};
        addDifference(total, difference(vectorOf(std::span(stats).subspan(2)), vectorOf(extremes), ofElements));
    }
    if (expected.head) {
        const Tensor own = headOf(*actual, expected.head->numel());
        if (own.numel() != expected.head->numel()) return fail("has " + base::countedText(actual->numel(), "element"));
        addDifference(total, difference(own, *expected.head, ofElements));
    }
    row.maxAbsolute = total.maxAbsolute;
    row.maxRelative = total.maxRelative;
    row.ok = total.ok;
    if (row.ok && actual->numel() == 0) row.note = kNoElements;
}

/// Output values with nested structures taken apart, depth first.
void flatten(const Value& value, std::vector<const Value*>& leaves) {
    if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) flatten(item, leaves);
    } else if (value.isListLike()) {
        // A list of plain numbers is one value: a size.
        const bool numbers =
            std::all_of(value.items().begin(), value.items().end(), [](const Value& v) { return v.isNumber(); });
        if (numbers && !value.items().empty()) {
            leaves.push_back(&value);
        } else {
            for (const Value& item : value.items()) flatten(item, leaves);
        }
    } else {
        leaves.push_back(&value);
    }
}

class CaseComparison {
  public:
    CaseComparison(const ComparedModel& model, const ReferenceValues& reference, const Tolerances& tolerance,
                   const Case& names)
        : m_model(model), m_reference(reference), m_tolerance(tolerance), m_case(names) {
        m_result.label = names.label;
        for (std::size_t i = 0; i < model.outputs.size(); ++i) m_outputNamed.try_emplace(model.outputs[i].first, i);
        std::size_t position = 0;
        m_order.resize(model.graph->exprCount(), 0);
        for (graph::ExprId id : model.graph->recursiveOrder(model.graph->mainId())) m_order[id.index()] = position++;
    }

    base::Result<ComparedCase> run(exec::Runner& runner, const base::WorkContext& work) {
        SONDE_TRY(readExpectedNodes());
        SONDE_ASSIGN(const std::vector<Value> inputs, readInputs());
        exec::PlanOptions options;
        options.exact = true;
        options.edits = m_model.edits.values;
        for (const Wanted& wanted : m_wanted) options.watch.push_back(wanted.place.node);
        SONDE_ASSIGN(const auto plan, exec::Plan::make(m_model.graph, std::move(options)));
        SONDE_ASSIGN(const std::vector<Value> edited, m_model.edits.edited(inputs, work));
        const exec::Recording recording = runner.run(*plan, edited, work);
        m_result.error = recording.error;
        m_result.inputs = inputs;
        for (const Wanted& wanted : m_wanted) compareNode(wanted, recording);
        SONDE_TRY(compareOutputs(recording));
        if (m_model.looseNames && !m_result.error) dropUnmatchedNodes();
        return std::move(m_result);
    }

  private:
    void dropUnmatchedNodes() {
        std::vector<ComparedValue> all = std::exchange(m_result.values, {});
        const std::vector<bool> areOthers = namesOfOthers(*m_model.graph, all);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (areOthers[i]) m_result.unmatched.push_back("node." + all[i].name);
            else m_result.values.push_back(std::move(all[i]));
        }
    }

    struct Wanted {
        std::string name;
        KeyedValue place;
        Expected expected;
    };

    base::Result<void> readInto(Expected& expected, const std::string& suffix, const std::string& key) {
        SONDE_ASSIGN(Tensor tensor, m_reference.read(key));
        (suffix.empty()      ? expected.whole
         : suffix == "shape" ? expected.shape
         : suffix == "stats" ? expected.stats
                             : expected.head) = std::move(tensor);
        return {};
    }

    /// A key's name as it is, or without its summary suffix if only that names a node.
    base::Result<void> readExpectedNodes() {
        std::unordered_map<std::string, std::size_t>
            placeOf;  // in m_wanted; a reference may have a hundred thousand names
        for (const auto& [fullName, key] : m_case.nodes) {
            std::string suffix;
            std::string name = fullName;
            auto place = keyedValue(*m_model.graph, name);
            if (!place) {
                std::tie(name, suffix) = summarySuffix(fullName);
                place = keyedValue(*m_model.graph, name);
            }
            if (!place) {
                m_result.unmatched.push_back(key);
                continue;
            }
            const auto [known, isNew] = placeOf.try_emplace(name, m_wanted.size());
            if (isNew) m_wanted.push_back({name, std::move(*place), {}});
            SONDE_TRY(readInto(m_wanted[known->second].expected, suffix, key));
        }
        SONDE_TRY(dropNamesakes());
        std::ranges::stable_sort(m_wanted,
                                 [this](const Wanted& a, const Wanted& b) { return isBefore(a.place, b.place); });
        return {};
    }

    /// A reference made by another tool may hold a node that has an output's name but is not that output: its own
    /// out.NAME then has another shape than its node.NAME.
    base::Result<void> dropNamesakes() {
        std::unordered_map<std::string_view, const std::string*> outputs;  // the first key of each name
        for (const auto& [name, key] : m_case.outputs) outputs.try_emplace(name, &key);
        std::vector<Wanted> others;
        for (Wanted& wanted : m_wanted) {
            const auto output = outputs.find(wanted.name);
            bool isNamesake = false;
            if (output != outputs.end() && wanted.place.path.empty() && wanted.place.pass.empty()) {
                SONDE_ASSIGN(const Tensor value, m_reference.read(*output->second));
                const Expected& expected = wanted.expected;
                isNamesake = expected.whole ? expected.whole->shape() != value.shape()
                                            : expected.shape && shapeFrom(*expected.shape) != value.shape();
            }
            if (isNamesake) m_result.unmatched.push_back("node." + wanted.name);
            else others.push_back(std::move(wanted));
        }
        m_wanted = std::move(others);
        return {};
    }

    std::size_t orderOf(NodeId node) const { return m_order[m_model.graph->node(node).producer.index()]; }

    /// Of one node the iterations in their order, and then the last one.
    bool isBefore(const KeyedValue& a, const KeyedValue& b) const {
        if (orderOf(a.node) != orderOf(b.node)) return orderOf(a.node) < orderOf(b.node);
        if (a.node != b.node) return a.node.value < b.node.value;
        return a.pass.empty() == b.pass.empty() ? a.pass < b.pass : b.pass.empty();
    }

    base::Result<std::vector<Value>> readInputs() {
        std::vector<Value> inputs(m_model.graph->inputs().size());
        for (const auto& [name, node] : m_model.inputs) {
            const auto key = m_case.inputs.find(name);
            if (key == m_case.inputs.end()) {
                return base::usageError("the reference has no input '" + name + "'", m_case.label,
                                        "its keys must be in.NAME for every input of the model");
            }
            SONDE_ASSIGN(Tensor tensor, m_reference.read(key->second));
            const auto& all = m_model.graph->inputs();
            const auto place = std::find(all.begin(), all.end(), node);
            if (place != all.end()) inputs[static_cast<std::size_t>(place - all.begin())] = Value(std::move(tensor));
        }
        return inputs;
    }

    ComparedValue rowFor(const std::string& name, NodeId node) const {
        ComparedValue row;
        row.name = name;
        row.node = node;
        if (node.valid()) row.qualname = m_model.graph->expr(m_model.graph->node(node).producer).qualname.value_or("");
        return row;
    }

    void compareNode(const Wanted& wanted, const exec::Recording& recording) {
        ComparedValue row = rowFor(wanted.name, wanted.place.node);
        compareValue(row, valueAt(recording, wanted.place), wanted.expected, m_tolerance);
        KeyedValue whole = wanted.place;
        whole.path.clear();
        if (!row.hasValue && !wanted.place.path.empty() && valueAt(recording, whole) && row.note == kNotComputed)
            row.note = "the value has no part " + wanted.place.path;
        const std::size_t iterations = recording.iterations(wanted.place.node);
        if (iterations > 1) row.iteration = iterationAt(recording, wanted.place);
        if (!row.hasValue && !wanted.place.pass.empty() && iterations > 0)
            row.note +=
                ": the run has " + std::to_string(iterations) + (iterations == 1 ? " iteration" : " iterations");
        m_result.values.push_back(std::move(row));
    }

    struct ExpectedOutput {
        std::string name;
        Expected value;
    };

    base::Result<std::vector<ExpectedOutput>> readExpectedOutputs() {
        std::vector<ExpectedOutput> expected;
        std::unordered_map<std::string, std::size_t> placeOf;  // in expected
        for (const auto& [fullName, key] : m_case.outputs) {
            const auto [name, suffix] =
                outputNamed(fullName) ? std::pair{fullName, std::string()} : summarySuffix(fullName);
            const auto [known, isNew] = placeOf.try_emplace(name, expected.size());
            if (isNew) expected.push_back({name, {}});
            SONDE_TRY(readInto(expected[known->second].value, suffix, key));
        }
        return expected;
    }

    std::optional<std::size_t> outputNamed(std::string_view name) const {
        const auto found = m_outputNamed.find(name);
        return found == m_outputNamed.end() ? std::nullopt : std::optional(found->second);
    }

    /// "y.'mean'": the output 'y' and the path to a part of its value.
    std::optional<std::pair<std::size_t, std::string>> outputPart(const std::string& name) const {
        for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1))
            if (const auto output = outputNamed(std::string_view(name).substr(0, dot)))
                return std::pair(*output, name.substr(dot + 1));
        return std::nullopt;
    }

    /// What an expected output is compared with.
    struct OutputPair {
        const Value* value = nullptr;
        std::optional<std::size_t> output;
        bool isByPosition = false;
    };

    /// Outputs go by name, and parts of structures by their paths. If there are as many expected ones as values, the
    /// others go by position: to the outputs that no name has, or to the elements of the structure that the graph
    /// returns as one value.
    std::vector<OutputPair> pairOutputs(const std::vector<ExpectedOutput>& expected,
                                        const exec::Recording& recording) const {
        const std::size_t count = std::min(m_model.outputs.size(), recording.outputs.size());
        std::vector<const Value*> leaves;
        for (const Value& output : recording.outputs) flatten(output, leaves);
        const bool isComplete = leaves.size() == expected.size(), isStructure = leaves.size() != count;
        std::vector<OutputPair> pairs(expected.size());
        std::vector<bool> isTaken(count, false);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto output = outputNamed(expected[i].name);
            if (const auto part = output ? std::nullopt : outputPart(expected[i].name); part && part->first < count)
                if (const Value* const value = elementAt(recording.outputs[part->first], part->second))
                    pairs[i] = {value, part->first};
            if (!output || *output >= count) continue;
            const bool isValue = asTensor(recording.outputs[*output]).has_value();
            if (!isValue && (isStructure || !isComplete)) continue;
            pairs[i] = {isValue ? &recording.outputs[*output] : leaves[*output], output};
            isTaken[*output] = true;
        }
        std::size_t next = 0;
        for (std::size_t i = 0; i < pairs.size() && isComplete; ++i) {
            if (pairs[i].output) continue;
            while (!isStructure && next < count && isTaken[next]) ++next;
            const std::size_t position = isStructure ? i : next++;
            pairs[i].value = leaves[position];
            if (position < m_model.outputs.size()) pairs[i].output = position;
            pairs[i].isByPosition = !isStructure;
        }
        return pairs;
    }

    base::Result<void> compareOutputs(const exec::Recording& recording) {
        SONDE_ASSIGN(const std::vector<ExpectedOutput> expected, readExpectedOutputs());
        const std::vector<OutputPair> pairs = pairOutputs(expected, recording);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const OutputPair& pair = pairs[i];
            // Of a run that failed there are no outputs, which might have gone by position.
            if (!pair.value && !recording.error && !outputNamed(expected[i].name))
                m_result.unmatched.push_back("out." + expected[i].name);
            ComparedValue row = rowFor(expected[i].name, pair.output ? m_model.outputs[*pair.output].second : NodeId());
            row.isOutput = true;
            if (pair.output && pair.isByPosition && m_model.areOutputsNamed)
                row.outputByPosition = m_model.outputs[*pair.output].first;
            compareValue(row, pair.value, expected[i].value, m_tolerance);
            m_result.values.push_back(std::move(row));
        }
        return {};
    }

    const ComparedModel& m_model;
    const ReferenceValues& m_reference;
    const Tolerances& m_tolerance;
    const Case& m_case;
    std::unordered_map<std::string_view, std::size_t> m_outputNamed;  ///< the first output of each name
    std::vector<std::size_t> m_order;
    std::vector<Wanted> m_wanted;
    ComparedCase m_result;
};

}  // namespace

base::Result<std::vector<ComparedCase>> compare(const ComparedModel& model, const ReferenceValues& reference,
                                                const Tolerance& tolerance, exec::Runner& runner,
                                                const base::WorkContext& work) {
    return compareWithin(Tolerances(tolerance), model, reference, runner, work);
}

base::Result<std::vector<ComparedCase>> compareWithin(const Tolerances& tolerances, const ComparedModel& model,
                                                      const ReferenceValues& reference, exec::Runner& runner,
                                                      const base::WorkContext& work) {
    const std::vector<Case> cases = casesOf(reference.keys);
    if (cases.empty() && !hasSequence(reference)) {
        return base::usageError("the reference has no case", {}, "its keys must be in.NAME, out.NAME and node.NAME");
    }
    std::vector<ComparedCase> results;
    for (const Case& names : cases) {
        if (work.cancelled()) return base::cancelled(names.label);
        SONDE_ASSIGN(ComparedCase result, CaseComparison(model, reference, tolerances, names).run(runner, work));
        results.push_back(std::move(result));
    }
    if (hasSequence(reference)) {
        SONDE_ASSIGN(ComparedCase result, compareSequence(model, reference, tolerances, runner, work));
        results.push_back(std::move(result));
    }
    return results;
}

}  // namespace sonde::analysis
