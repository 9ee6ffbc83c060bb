#include "core/document/reference.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "core/document/input_infos.h"
#include "core/document/test_cases.h"
#include "core/graph/source_files.h"
#include "core/io/inputs/agreement.h"
#include "core/io/inputs/npz_inputs.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/onnx_writer.h"

namespace sonde::document {

namespace {

using tensor::Tensor;
using tensor::Value;

/// "case1." of an array of that case, "" of one of the first case; nothing of a sequence's.
std::optional<std::string> casePrefix(const std::string& key) {
    const std::size_t end = key.starts_with("case") ? key.find_first_not_of("0123456789", 4) : std::string::npos;
    if (end != std::string::npos && end > 4 && key[end] == '.') return key.substr(0, end + 1);
    return key.starts_with("seq.") ? std::nullopt : std::optional(std::string());
}

/// "" and "case1." …: the cases that have any array for inputs, outputs or nodes.
std::vector<std::string> casePrefixes(const io::NpzFile& file) {
    std::set<std::string> prefixes;
    for (const std::string& key : file.keys())
        if (auto prefix = casePrefix(key)) prefixes.insert(std::move(*prefix));
    return {prefixes.begin(), prefixes.end()};
}

/// A reference holds arrays; what a forward takes that is no tensor is left as the array is.
base::Result<Tensor> arrayFor(const io::InputInfo& input, Tensor array, const std::string& where) {
    if (input.type.kind && !input.type.isTensor()) return array;
    SONDE_ASSIGN(const Value value, io::fitted(std::move(array), input, where));
    return value.tensor();
}

class ReferenceReader {
  public:
    ReferenceReader(const Document& document, std::string path, const std::map<std::string, Tensor>& given,
                    std::shared_ptr<const io::NpzFile> file)
        : m_inputs(requiredInputInfos(document)), m_hasDefault(defaultsOf(document)), m_path(std::move(path)),
          m_given(given), m_file(std::move(file)) {}

    base::Result<Reference> read() {
        m_keys = m_file->keys();
        SONDE_TRY(readCases());
        readReplaced();
        for (const auto& [key, tensor] : m_given) {
            if (std::ranges::find(m_keys, key) == m_keys.end()) m_keys.push_back(key);
            m_values.insert_or_assign(key, tensor);
        }
        Reference reference;
        reference.notes = std::move(m_notes);
        reference.unfit = std::move(m_unfit);
        reference.replaced = std::move(m_replaced);
        reference.values = {std::move(m_keys), [file = m_file, values = std::move(m_values)](const std::string& key) {
                                const auto own = values.find(key);
                                return own == values.end() ? file->read(key) : base::Result<Tensor>(own->second);
                            }};
        return reference;
    }

  private:
    bool isGiven(const std::string& prefix, const std::string& name) const {
        return (prefix.empty() && m_given.contains("in." + name)) || m_file->has("seq.in." + name);
    }

    /// What cannot be read, or does not fit, is nothing that a given value can be compared with.
    void readReplaced() {
        for (const io::InputInfo& input : m_inputs) {
            if (!m_given.contains("in." + input.name)) continue;
            for (const std::string& key : {"in." + input.name, input.name}) {
                if (!m_file->has(key)) continue;
                auto array = m_file->read(key);
                if (!array) continue;
                auto fitting = arrayFor(input, *array, m_path);
                m_replaced.emplace(input.name, fitting ? std::move(*fitting) : std::move(*array));
                break;
            }
        }
    }

    /// A case that does not fit the model is left out, as long as there is another one.
    base::Result<void> readCases() {
        const std::vector<std::string> prefixes = casePrefixes(*m_file);
        for (const std::string& prefix : prefixes) {
            const auto done = readCase(prefix);
            if (done) continue;
            if (done.error().kind != base::ErrorKind::Usage || prefixes.size() == 1) return done.error();
            std::erase_if(m_keys, [&](const std::string& key) { return casePrefix(key) == prefix; });
            const std::string label = prefix.empty() ? "case 0" : prefix.substr(0, prefix.size() - 1);
            m_unfit.push_back({label, {}, {}, done.error(), {}});
        }
        if (!m_unfit.empty() && m_unfit.size() == prefixes.size()) return *m_unfit.front().error;
        return {};
    }

    base::Result<void> readCase(const std::string& prefix) {
        std::vector<bool> isOpen;
        for (const io::InputInfo& input : m_inputs) isOpen.push_back(!isGiven(prefix, input.name));
        SONDE_ASSIGN(const io::ArrayMatch match, io::matchArrays(*m_file, prefix, m_inputs, isOpen, m_hasDefault));
        for (std::string& note : match.notes(m_inputs)) addNote(std::move(note));
        std::vector<Value> values(m_inputs.size());
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            if (match.keys[i].empty()) {
                if (!isOpen[i]) continue;
                return io::missingArray(match, prefix, m_inputs, isOpen, *m_file, m_path);
            }
            if (prefix.empty() && m_given.contains("in." + m_inputs[i].name)) continue;
            SONDE_TRY(readInput(prefix, i, match.keys[i], values[i]));
        }
        auto found = io::contradictions(m_inputs, values);
        if (!found.empty())
            return found.front().error.at(m_path + (prefix.empty() ? "" : ", " + prefix.substr(0, prefix.size() - 1)));
        return {};
    }

    /// Each once.
    void addNote(std::string note) {
        if (!note.empty() && std::ranges::find(m_notes, note) == m_notes.end()) m_notes.push_back(std::move(note));
    }

    base::Result<void> readInput(const std::string& prefix, std::size_t input, const std::string& from, Value& value) {
        const std::string key = prefix + "in." + m_inputs[input].name;
        SONDE_ASSIGN(Tensor array, m_file->read(from));
        addNote(io::conversionNote(from, array.dtype(), m_inputs[input]));
        SONDE_ASSIGN(Tensor fitting, arrayFor(m_inputs[input], std::move(array), m_path + ", array '" + from + "'"));
        value = Value(fitting);
        if (from != key) std::erase(m_keys, from);
        if (std::ranges::find(m_keys, key) == m_keys.end()) m_keys.push_back(key);
        m_values.insert_or_assign(key, std::move(fitting));
        return {};
    }

    std::vector<io::InputInfo> m_inputs;
    io::HasDefault m_hasDefault;
    std::string m_path;
    const std::map<std::string, Tensor>& m_given;
    std::shared_ptr<const io::NpzFile> m_file;
    std::vector<std::string> m_keys, m_notes;
    std::vector<analysis::ComparedCase> m_unfit;
    std::map<std::string, Tensor> m_replaced;
    std::map<std::string, Tensor> m_values;  ///< by the keys of the model's own names
};

/// Keys of the values that the graph still has: a pass may have given a node the work of others.
std::vector<std::string> comparableKeys(const Document& document, std::vector<std::string> keys) {
    for (graph::NodeId node : document.revaluedNodes()) {
        const std::string key = "node." + document.graph->node(node).name;
        std::erase_if(keys, [&](const std::string& each) {
            const std::size_t at = each.find(key);
            const bool isCase =
                at == 0 || (at != std::string::npos && each.starts_with("case") && each.find('.') + 1 == at);
            return isCase && (each.size() == at + key.size() || each[at + key.size()] == '.');
        });
    }
    return keys;
}

}  // namespace

base::Result<Reference> openReference(const Document& document, const std::string& path,
                                      const std::map<std::string, Tensor>& given) {
    const base::MappedFilesScope files;
    SONDE_ASSIGN(io::NpzFile file, io::NpzFile::open(path));
    auto reference =
        ReferenceReader(document, path, given, std::make_shared<const io::NpzFile>(std::move(file))).read();
    SONDE_TRY(base::checkUnchanged(files.files(), "reference file"));
    if (reference) reference->files = files.files();
    return reference;
}

namespace {

/// Nodes are named as an archive's program was recorded, by Sonde: also where they were written into another file.
bool hasCountedNames(const Document& document) {
    if (document.format != "ONNX")
        return document.format == "TorchScript" || document.format == "TracedModule" ||
               document.format == kDumpFormatName;
    const auto producer =
        std::ranges::find(document.properties, "producer", &std::pair<std::string, std::string>::first);
    return producer != document.properties.end() && producer->second == io::kOnnxProducer;
}

/// Where nothing was compared nothing agrees. A run that failed says more, and is told instead.
base::Result<void> checkCompared(const std::vector<analysis::ComparedCase>& cases, const std::string& path) {
    std::vector<std::string> unmatched;
    for (const analysis::ComparedCase& each : cases) {
        if (!each.values.empty() || each.error) return {};
        unmatched.insert(unmatched.end(), each.unmatched.begin(), each.unmatched.end());
    }
    base::Error error{base::ErrorKind::Comparison, "nothing was compared", path};
    return error.withHint(unmatched.empty()
                              ? "the reference has only inputs: other keys must be out.NAME or node.NAME"
                              : "the model has no node or output of these names: " + analysis::listOfKeys(unmatched));
}

}  // namespace

base::Result<ReferenceComparison> compareWithReference(const Document& document, const std::string& path,
                                                       const analysis::Tolerances& tolerances, exec::Runner& runner,
                                                       const std::map<std::string, tensor::Tensor>& given,
                                                       const base::WorkContext& work, const analysis::RunEdits& edits) {
    analysis::ComparedModel model;
    model.graph = document.graph;
    model.edits = edits;
    // A dump may be of an archive, and its outputs are called ADD, RELU …, unless its author named them.
    const bool isDump = document.format == kDumpFormatName;
    model.looseNames = hasCountedNames(document);
    model.areOutputsNamed = document.format == "ONNX" || isDump;
    for (const NamedNode& input : document.inputs) model.inputs.emplace_back(input.name, input.node);
    for (const NamedNode& output : document.outputs) model.outputs.emplace_back(output.name, output.node);
    SONDE_ASSIGN(Reference reference, openReference(document, path, given));
    reference.values.keys = comparableKeys(document, std::move(reference.values.keys));
    SONDE_ASSIGN(auto cases, analysis::compareWithin(tolerances, model, reference.values, runner, work));
    // What agreed with bytes that are no longer those of the files agreed with nothing.
    SONDE_TRY(base::checkUnchanged(reference.files, "reference file"));
    SONDE_TRY(graph::checkFiles(document.graph));
    SONDE_TRY(checkCompared(cases, path));
    // Behind the others: what they gave is told first.
    std::ranges::move(reference.unfit, std::back_inserter(cases));
    // From here on they are those of the file.
    std::erase_if(reference.values.keys, [&](const std::string& key) { return given.contains(key); });
    return ReferenceComparison{std::move(cases),
                               std::move(reference.notes),
                               std::move(reference.files),
                               std::move(reference.values),
                               std::move(reference.replaced),
                               edits};
}

}  // namespace sonde::document
