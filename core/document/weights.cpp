#include "core/document/weights.h"

#include <map>

#include "core/base/mapped_file.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/onnx_reader.h"
#include "core/io/torchscript/script_module.h"
#include "core/io/torchscript/state_dict.h"

namespace sonde::document {

namespace {

using tensor::Tensor;
using Weights = std::map<std::string, Tensor>;

base::Result<Weights> weightsOfNpz(const std::filesystem::path& path) {
    SONDE_ASSIGN(const io::NpzFile file, io::NpzFile::open(path));
    Weights weights;
    for (const std::string& key : file.keys()) {
        SONDE_ASSIGN(weights[key], file.read(key));
    }
    return weights;
}

base::Result<Weights> weightsOfArchive(const std::filesystem::path& path) {
    SONDE_ASSIGN(const auto archive, io::script::Archive::open(path));
    SONDE_ASSIGN(const auto module, io::script::makeRootModule(archive));
    Weights weights;
    for (const trace::NamedTensor& named : trace::namedTensors(*module)) {
        if (named.slot->kind != trace::Slot::Kind::Plain) weights[named.path] = named.slot->value;
    }
    return weights;
}

base::Result<Weights> weightsOfStateDict(const std::filesystem::path& path) {
    SONDE_ASSIGN(auto tensors, io::script::readStateDict(path));
    Weights weights;
    for (auto& [name, value] : tensors) weights[name] = std::move(value);
    return weights;
}

base::Result<Weights> weightsOfOnnx(std::shared_ptr<const base::MappedFile> file, const base::WorkContext& work) {
    SONDE_ASSIGN(const io::OnnxModel model, io::readOnnx(std::move(file), work));
    Weights weights;
    for (const graph::ExprId id : model.graph.main().order) {
        const graph::Expr& expr = model.graph.expr(id);
        if (expr.kind != graph::ExprKind::Constant || !expr.isParameter) continue;
        const graph::Node& node = model.graph.node(expr.outputs.front());
        if (node.constant && node.constant->isTensor()) weights[node.name] = node.constant->tensor();
    }
    return weights;
}

base::Result<Weights> weightsOf(const std::filesystem::path& path, const base::WorkContext& work) {
    SONDE_ASSIGN(std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    const std::span<const std::byte> head = file->window(0, std::min<std::size_t>(file->sizeBytes(), 64 * 1024));
    if (io::script::looksLikeStateDict(head, path)) return weightsOfStateDict(path);
    if (io::script::looksLikeTorchFile(head, path)) return weightsOfArchive(path);
    if (io::looksLikeOnnx(head, file->sizeBytes())) return weightsOfOnnx(std::move(file), work);
    return weightsOfNpz(path);
}

/// "fc.bias, fc.weight and 3 more".
class Listing {
  public:
    void add(std::string item) {
        if (++m_count <= kShown) m_text += (m_text.empty() ? "" : ", ") + std::move(item);
    }
    /// Appends "TITLE: …" to the text if there is anything.
    void appendTo(std::string& text, std::string_view title) const {
        if (m_count == 0) return;
        text += (text.empty() ? "" : "; ") + std::string(title) + ": " + m_text;
        if (m_count > kShown) text += " and " + std::to_string(m_count - kShown) + " more";
    }

  private:
    static constexpr std::size_t kShown = 5;
    std::size_t m_count = 0;
    std::string m_text;
};

}  // namespace

base::Result<void> loadWeights(trace::Module& root, const std::filesystem::path& path, const base::WorkContext& work) {
    work.report("reading weights from " + path.filename().string());
    SONDE_ASSIGN(Weights weights, weightsOf(path, work));
    Listing missing, unexpected, unfit;
    std::vector<std::pair<trace::Slot*, const Tensor*>> pairs;
    std::map<std::string, bool> known;
    for (const trace::NamedTensor& named : trace::namedTensors(root)) {
        if (named.slot->kind == trace::Slot::Kind::Plain) continue;
        known[named.path] = true;
        const auto found = weights.find(named.path);
        const Tensor& own = named.slot->value;
        if (found == weights.end()) {
            if (!named.path.ends_with("num_batches_tracked")) missing.add(named.path);
        } else if (found->second.dtype() != own.dtype() || found->second.shape() != own.shape()) {
            unfit.add(named.path + " is " + own.typeText() + " in the model and " + found->second.typeText() +
                      " in the file");
        } else {
            pairs.emplace_back(named.slot.get(), &found->second);
        }
    }
    for (const auto& [name, value] : weights) {
        if (!known.contains(name)) unexpected.add(name);
    }
    std::string problems;
    missing.appendTo(problems, "missing");
    unexpected.appendTo(problems, "unexpected");
    unfit.appendTo(problems, "of a different type");
    if (!problems.empty()) {
        return base::unreadable(
            "the weights do not fit the model; " + problems, path.string(),
            "names, shapes and dtypes must be the model's; `sonde models` lists the settings that change them");
    }
    for (const auto& [slot, value] : pairs) slot->value = *value;
    return {};
}

}  // namespace sonde::document
