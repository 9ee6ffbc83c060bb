#include "core/session/load_and_run/case_inputs.h"

#include <algorithm>
#include <cstring>

#include "core/document/input_infos.h"
#include "core/io/inputs/agreement.h"
#include "core/io/inputs/tool_inputs.h"

namespace sonde::session {

using document::OutputCheck;
using tensor::Tensor;
using tensor::Value;

namespace {

/// The model alone, where there is nothing to check it with.
void dropChecks(const document::Document& document, document::TestCases& tests) {
    tests.graph = document.graph;
    tests.checks.clear();
}

/// What `options.input` gives, and for the rest of the inputs what any run gives them.
class GivenInputs {
  public:
    GivenInputs(const document::Document& document, const LoadAndRunOptions& options, CaseInputs& result)
        : m_document(document), m_options(options), m_result(result), m_infos(document::requiredInputInfos(document)) {
        m_inputs.hasDefault = document::defaultsOf(document);
    }

    base::Result<void> make() {
        const std::size_t own = m_infos.size();
        std::vector<io::InputInfo> results;
        for (const OutputCheck& check : m_result.tests.checks) {
            const graph::Node& node = m_result.tests.graph->node(check.expected);
            results.push_back({node.name, node.type});
        }
        SONDE_ASSIGN(std::vector<Value> values, io::toolInputs(m_options.input, m_infos, m_inputs, results));
        const auto expected = values.begin() + static_cast<std::ptrdiff_t>(own);
        const auto given = std::count_if(expected, values.end(), [](const Value& value) { return !value.isNone(); });
        if (given > 0 && expected + given != values.end())
            return base::usageError("expected values are given for some outputs only", "--input",
                                    "give NAME:expect for every output, or for none");
        if (given == 0 && !m_result.tests.checks.empty())
            m_result.notes.emplace_back("outputs are not checked: no expected values are given (NAME:expect:DATA)");
        if (given == 0) dropChecks(m_document, m_result.tests);
        CaseValues& named = m_result.cases.emplace_back();
        SONDE_TRY(addDefaults(values, own));
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!values[i].isNone()) named.emplace(i < own ? inputName(i) : results[i - own].name, values[i]);
        return {};
    }

  private:
    /// What the node is called: the document's name of an input may be another one.
    std::string inputName(std::size_t index) const {
        return m_document.graph->node(m_document.inputs[index].node).name;
    }

    base::Result<void> addDefaults(std::vector<Value>& values, std::size_t own) {
        std::vector<io::InputInfo> sized = m_infos;
        io::agreeOnSymbols(sized, std::span(values).first(own));
        for (std::size_t i = 0; i < own; ++i) {
            if (!values[i].isNone()) continue;
            const std::string item = io::defaultItem(sized[i]);
            SONDE_ASSIGN(values[i], io::makeInput(item, sized[i], i, m_inputs));
            m_result.notes.push_back("input " + m_infos[i].name + ": " + item);
        }
        return {};
    }

    const document::Document& m_document;
    const LoadAndRunOptions& m_options;
    CaseInputs& m_result;
    std::vector<io::InputInfo> m_infos;
    io::InputOptions m_inputs;
};

/// Values without expected ones.
void addGiven(const document::Document& document, std::span<const io::InputCase> given, CaseInputs& result) {
    result.tests.cases.clear();
    if (!result.tests.checks.empty()) result.notes.emplace_back("outputs are not checked: the inputs are others");
    dropChecks(document, result.tests);
    for (const io::InputCase& each : given) {
        result.notes.insert(result.notes.end(), each.notes.begin(), each.notes.end());
        CaseValues& named = result.cases.emplace_back();
        for (std::size_t i = 0; i < each.values.size() && i < document.inputs.size(); ++i)
            if (!each.values[i].isNone())
                named.emplace(document.graph->node(document.inputs[i].node).name, each.values[i]);
    }
}

base::Result<void> setBatch(CaseInputs& inputs, std::int64_t count) {
    for (CaseValues& values : inputs.cases) {
        for (auto& [name, value] : values) {
            if (!value.isTensor()) continue;
            const graph::NodeId node = inputs.tests.graph->findNode(name);
            const bool isFixed = node.valid() && document::hasFixedSizes(*inputs.tests.graph, node);
            if (isFixed && value.tensor().rank() > 0 && value.tensor().dim(0) != count)
                return base::usageError("the dump was written for " + value.tensor().typeText(), "input " + name,
                                        "leave out --batch_size, or dump the model with data of that size");
            auto tensor = withBatch(value.tensor(), count);
            if (!tensor) return std::move(tensor).error().at("input " + name);
            value = Value(std::move(*tensor));
        }
    }
    return {};
}

}  // namespace

base::Result<Tensor> withBatch(const Tensor& tensor, std::int64_t count) {
    if (tensor.rank() == 0 || tensor.dim(0) == count) return tensor;
    if (tensor.dim(0) == 0 || tensor.dtype() == tensor::DType::String)
        return base::usageError("there are no samples to repeat in " + tensor.typeText(), "--batch_size");
    SONDE_ASSIGN(const Tensor source, tensor.contiguous());
    std::vector<std::int64_t> dims(tensor.shape().begin(), tensor.shape().end());
    dims[0] = count;
    SONDE_ASSIGN(Tensor result, Tensor::allocate(tensor.dtype(), tensor::Shape(std::move(dims))));
    const auto samples = static_cast<std::size_t>(tensor.dim(0));
    const std::size_t bytes = source.sizeBytes() / samples;
    std::byte* out = result.mutableBytes();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        std::memcpy(out + i * bytes, source.bytes() + i % samples * bytes, bytes);
    return result;
}

std::vector<Value> valuesFor(const graph::InternalGraph& graph, const CaseValues& values) {
    std::vector<Value> ordered;
    for (const graph::NodeId input : graph.inputs()) {
        const auto found = values.find(graph.node(input).name);
        ordered.push_back(found == values.end() ? Value() : found->second);
    }
    return ordered;
}

base::Result<CaseInputs> caseInputs(const document::Document& document, const LoadAndRunOptions& options,
                                    std::span<const io::InputCase> given) {
    CaseInputs result;
    SONDE_ASSIGN(result.tests, document::readTestCases(document));
    if (options.input.empty() && !given.empty()) {
        addGiven(document, given, result);
    } else if (options.input.empty() && !result.tests.cases.empty()) {
        for (const io::dump::TestCase& test : result.tests.cases) {
            SONDE_ASSIGN(const std::vector<Value> values, document::inputsOfCase(*result.tests.graph, test));
            CaseValues& named = result.cases.emplace_back();
            for (std::size_t i = 0; i < values.size(); ++i)
                if (!values[i].isNone())
                    named.emplace(result.tests.graph->node(result.tests.graph->inputs()[i]).name, values[i]);
        }
    } else {
        result.tests.cases.clear();
        SONDE_TRY(GivenInputs(document, options, result).make());
    }
    if (options.batchSize > 0) SONDE_TRY(setBatch(result, options.batchSize));
    return result;
}

}  // namespace sonde::session
