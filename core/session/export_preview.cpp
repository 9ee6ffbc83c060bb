#include "core/session/export_preview.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <tuple>

#include "core/analysis/difference.h"
#include "core/document/document.h"
#include "core/document/output_check.h"
#include "core/exec/runner.h"
#include "core/graph/operation_count.h"

namespace sonde::session {

namespace {

using tensor::Tensor;
using tensor::Value;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// A folder that goes with all that is in it.
class TemporaryFolder {
  public:
    TemporaryFolder() = default;
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!m_path.empty()) std::filesystem::remove_all(m_path, ignored);
    }

    base::Result<void> make() {
        std::error_code code;
        std::string name =
            (std::filesystem::temp_directory_path(code) / "sonde-export-").string() + std::string(6, 'X');
        if (code || !mkdtemp(name.data())) return base::runError("no temporary folder can be made", name);
        m_path = name;
        return {};
    }
    const std::filesystem::path& path() const { return m_path; }

  private:
    std::filesystem::path m_path;
};

std::uint64_t bytesOf(const std::vector<std::filesystem::path>& files) {
    std::uint64_t sum = 0;
    for (const std::filesystem::path& file : files) {
        std::error_code code;
        const std::uintmax_t size = std::filesystem::file_size(file, code);
        if (!code) sum += size;
    }
    return sum;
}

std::uint64_t weightBytesOf(const graph::InternalGraph& graph) {
    std::set<std::tuple<const void*, std::int64_t, std::size_t>> seen;
    std::uint64_t sum = 0;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        for (const graph::NodeId node : graph.expr(id).outputs) {
            const auto& constant = graph.node(node).constant;
            if (!constant || !constant->isTensor() || !constant->tensor().defined()) continue;
            const Tensor& tensor = constant->tensor();
            if (seen.emplace(tensor.storage().get(), tensor.offsetElements(), tensor.sizeBytes()).second)
                sum += tensor.sizeBytes();
        }
    }
    return sum;
}

/// The formula of AssertEqual, but that NaN is equal to itself.
double checkError(const Tensor& expected, const Tensor& got) {
    double worst = 0;
    for (std::int64_t i = 0; i < expected.numel(); ++i) {
        const double e = expected.toDouble(i), g = got.toDouble(i);
        if (e == g || (std::isnan(e) && std::isnan(g))) continue;
        const double error = std::abs(e - g) / std::max(std::min(std::abs(e), std::abs(g)), 1.0);
        worst = std::max(worst, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
    }
    return worst;
}

/// Tensors of real numbers, and single numbers as tensors of one; none: there are no numbers to compare.
std::optional<Tensor> numbersOf(const Value& value) {
    if (value.kind() == tensor::ValueKind::Float) return Tensor::scalar<double>(value.toFloat());
    if (value.isNumber())
        return Tensor::scalar<std::int64_t>(value.kind() == tensor::ValueKind::Bool ? value.toBool() : value.toInt());
    const bool isNumeric = value.isTensor() && value.tensor().dtype() != tensor::DType::String &&
                           !tensor::isComplex(value.tensor().dtype());
    return isNumeric ? std::optional(value.tensor()) : std::nullopt;
}

/// Shape and dtype may change: a scalar is stored as [1], float32 as float16.
ExportedOutput comparedOutput(std::string name, const Value& expected, const Value& got) {
    ExportedOutput output{std::move(name), kNotANumber, kNotANumber, {}};
    const std::optional<Tensor> left = numbersOf(expected), right = numbersOf(got);
    if (!left || !right) {
        const bool isSame = tensor::identical(expected, got), areTensors = expected.isTensor() && got.isTensor();
        if (isSame) output.error = output.maxAbsolute = 0;
        else if (!areTensors) output.error = output.maxAbsolute = std::numeric_limits<double>::infinity();
        if (!isSame) output.note = got.typeText() + (areTensors ? " is not compared" : " with another value");
        return output;
    }
    const Tensor &e = *left, &g = *right;
    if (expected.typeText() != got.typeText()) output.note = got.typeText() + " instead of " + expected.typeText();
    const bool isScalar = e.numel() == 1 && g.numel() == 1;
    if (!isScalar && e.shape() != g.shape()) {
        output.error = output.maxAbsolute = std::numeric_limits<double>::infinity();
        return output;
    }
    output.error = checkError(e, g);
    output.maxAbsolute = 0;
    for (std::int64_t i = 0; i < e.numel(); ++i) {
        const double a = e.toDouble(i), b = g.toDouble(i);
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        const double apart = std::abs(a - b);
        output.maxAbsolute =
            std::max(output.maxAbsolute, std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart);
    }
    return output;
}

class Previewer {
  public:
    Previewer(const document::Document& document, std::span<const Value> inputs, std::size_t threads,
              const base::WorkContext& work)
        : m_document(document), m_inputs(inputs.begin(), inputs.end()), m_runner(threads), m_work(work) {}

    base::Result<ExportPreview> make(std::span<const ExportForm> forms) {
        SONDE_TRY(m_folder.make());
        ExportPreview preview;
        preview.threads = m_runner.pool().threads();
        preview.model = ofModel();
        for (std::size_t i = 0; i < forms.size(); ++i) {
            if (m_work.cancelled()) return base::cancelled("the preview");
            m_work.report(forms[i].label, i, forms.size());
            preview.forms.push_back(ofForm(forms[i], i));
        }
        if (m_work.cancelled()) return base::cancelled("the preview");
        return preview;
    }

  private:
    ExportMeasure ofModel() {
        m_work.report("running the model");
        ExportMeasure measure;
        measure.label = m_document.title;
        measure.operations = graph::operationCount(*m_document.graph);
        measure.weightBytes = weightBytesOf(*m_document.graph);
        std::vector<std::filesystem::path> files;
        // The model's own file may be named as what was opened and as what weights are mapped from.
        for (const document::FileRead& file : document::modelFiles(m_document)) {
            const auto isIt = [&file](const auto& known) { return document::isSameFile(known, file.path); };
            if (std::ranges::none_of(files, isIt)) files.push_back(file.path);
        }
        measure.fileBytes = bytesOf(files);
        auto outputs = run(m_document.graph, m_inputs, measure);
        if (outputs) m_expected = std::move(*outputs);
        return measure;
    }

    ExportMeasure ofForm(const ExportForm& form, std::size_t index) {
        ExportMeasure measure;
        measure.label = form.label;
        const std::filesystem::path path = m_folder.path() / ("form" + std::to_string(index));
        base::WorkContext quiet;  // what is told is how many forms are done
        quiet.stop = m_work.stop;
        auto written = form.write(path, quiet);
        if (!written) {
            measure.error = std::move(written).error();
            return measure;
        }
        measure.fileBytes = bytesOf(written->paths);
        measure.notes = std::move(written->notes);
        const auto opened = document::open(path.string(), {}, quiet);
        if (!opened) measure.error = opened.error();
        else ofFile(**opened, measure);
        std::error_code ignored;
        for (const std::filesystem::path& file : written->paths)
            if (file.parent_path() == m_folder.path()) std::filesystem::remove(file, ignored);
        return measure;
    }

    void ofFile(const document::Document& exported, ExportMeasure& measure) {
        measure.operations = graph::operationCount(*exported.graph);
        measure.weightBytes = weightBytesOf(*exported.graph);
        const auto outputs = run(exported.graph, inputsOf(exported), measure);
        if (!outputs || !m_expected) return;
        if (outputs->size() != m_expected->size()) {
            measure.error = base::runError("the file has " + std::to_string(outputs->size()) + " outputs, the model " +
                                           std::to_string(m_expected->size()));
            return;
        }
        for (std::size_t i = 0; i < outputs->size(); ++i) {
            const std::string name =
                i < m_document.outputs.size() ? m_document.outputs[i].name : "output " + std::to_string(i);
            measure.outputs.push_back(comparedOutput(name, (*m_expected)[i], (*outputs)[i]));
        }
    }

    /// The model's inputs for a file: by name, else by position. A file may store a scalar as [1].
    std::vector<Value> inputsOf(const document::Document& exported) const {
        std::vector<Value> values(exported.graph->inputs().size());
        for (std::size_t i = 0; i < exported.inputs.size(); ++i) {
            const auto& theirs = m_document.inputs;
            const auto same = std::ranges::find(theirs, exported.inputs[i].name, &document::NamedNode::name);
            const std::size_t from = same == theirs.end() ? i : static_cast<std::size_t>(same - theirs.begin());
            if (from >= theirs.size()) continue;
            const std::size_t at = positionOf(*m_document.graph, theirs[from].node);
            const std::size_t to = positionOf(*exported.graph, exported.inputs[i].node);
            if (at >= m_inputs.size() || to >= values.size()) continue;
            values[to] = m_inputs[at];
            const auto& shape = exported.graph->node(exported.inputs[i].node).type.shape;
            if (values[to].isTensor() && values[to].tensor().rank() == 0 && shape && shape->size() == 1)
                values[to] = Value(values[to].tensor().unsqueezed(0));
        }
        return values;
    }

    static std::size_t positionOf(const graph::InternalGraph& graph, graph::NodeId node) {
        return static_cast<std::size_t>(std::ranges::find(graph.inputs(), node) - graph.inputs().begin());
    }

    /// The outputs; none if the run failed, which the measure tells.
    std::optional<std::vector<Value>> run(const std::shared_ptr<const graph::InternalGraph>& graph,
                                          const std::vector<Value>& inputs, ExportMeasure& measure) {
        const auto plan = exec::Plan::make(graph, {});
        if (!plan) {
            measure.error = plan.error();
            return {};
        }
        std::vector<Value> outputs;
        std::vector<std::int64_t> times;
        std::int64_t sum = 0;
        for (std::size_t i = 0; i <= kMaxTimedRuns; ++i) {
            exec::Recording recording = m_runner.run(**plan, inputs, m_work);
            if (recording.error) {
                measure.error = std::move(recording.error);
                return {};
            }
            if (i == 0) outputs = std::move(recording.outputs);
            if (i == 0 && recording.totalNs < kLongRunNs) continue;
            times.push_back(recording.totalNs);
            sum += recording.totalNs;
            if (sum >= kLongRunNs || (times.size() >= kMinTimedRuns && sum >= kTimedNs)) break;
        }
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        measure.ns = *middle;
        return outputs;
    }

    const document::Document& m_document;
    std::vector<Value> m_inputs;
    exec::Runner m_runner;
    const base::WorkContext& m_work;
    TemporaryFolder m_folder;
    std::optional<std::vector<Value>> m_expected;
};

double largest(const std::vector<ExportedOutput>& outputs, double ExportedOutput::*member) {
    double worst = kNotANumber;
    for (const ExportedOutput& output : outputs) worst = std::fmax(output.*member, worst);
    return worst;
}

}  // namespace

double ExportMeasure::largestError() const { return largest(outputs, &ExportedOutput::error); }
double ExportMeasure::largestAbsolute() const { return largest(outputs, &ExportedOutput::maxAbsolute); }

base::Result<ExportPreview> previewExport(const document::Document& document, std::span<const Value> inputs,
                                          std::span<const ExportForm> forms, std::size_t threads,
                                          const base::WorkContext& work) {
    return Previewer(document, inputs, threads, work).make(forms);
}

}  // namespace sonde::session
