#include "core/exec/file_check.h"

#include <algorithm>

#include "core/exec/clock.h"
#include "core/graph/source_files.h"
#include "core/tensor/mapped_source.h"

namespace sonde::exec {

namespace {

constexpr std::int64_t kPauseNs = 20'000'000;

/// Files that a value's tensors are mapped from.
void collect(const tensor::Value& value, std::vector<const base::MappedFile*>& files) {
    if (value.isTensor()) {
        const base::MappedFile* const file = tensor::mappedFile(value.tensor());
        if (file && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    } else if (value.isListLike()) {
        for (const tensor::Value& item : value.items()) collect(item, files);
    } else if (value.kind() == tensor::ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) collect(item, files);
    }
}

std::optional<base::Error> runErrorOf(const base::MappedFile& file, std::string_view role) {
    base::Error error = file.changeError(role);
    error.kind = base::ErrorKind::Run;
    return error;
}

}  // namespace

FileCheck::FileCheck(const std::shared_ptr<const graph::InternalGraph>& graph, std::span<const tensor::Value> inputs)
    : m_graphFiles(graph::filesOf(graph)) {
    for (const tensor::Value& input : inputs) collect(input, m_inputFiles);
}

std::optional<base::Error> FileCheck::changed() {
    m_lookedNs = nowNs();
    for (const auto& file : m_graphFiles) {
        if (file->hasChanged()) return runErrorOf(*file, "model file");
    }
    for (const base::MappedFile* file : m_inputFiles) {
        if (file->hasChanged()) return runErrorOf(*file, "input file");
    }
    return std::nullopt;
}

std::optional<base::Error> FileCheck::changedMeanwhile() {
    const bool isKnown =
        base::anyKnownChanged(m_graphFiles) ||
        std::ranges::any_of(m_inputFiles, [](const base::MappedFile* file) { return file->isKnownChanged(); });
    if (isKnown || ((!m_graphFiles.empty() || !m_inputFiles.empty()) && nowNs() - m_lookedNs >= kPauseNs))
        return changed();
    return std::nullopt;
}

Recording recordingOfChangedFiles(const Plan& plan, base::Error error, std::int64_t totalNs) {
    Recording recording;
    recording.states.assign(plan.graph().exprCount(), ExprState::NotReached);
    recording.elapsed.assign(plan.graph().exprCount(), 0);
    recording.started.assign(plan.graph().exprCount(), 0);
    recording.computedNodes.assign(plan.graph().nodeCount(), false);
    recording.joinedTo.assign(plan.graph().exprCount(), ExprId());
    recording.totalNs = totalNs;
    recording.error = std::move(error);
    return recording;
}

}  // namespace sonde::exec
