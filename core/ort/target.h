#pragma once

#include <memory>

#include "core/analysis/bisect.h"
#include "core/document/document_types.h"
#include "core/ort/helper.h"

namespace sonde::ort {

/// ONNX Runtime as the target of a bisection: the same model in another engine.
class EngineTarget : public analysis::BisectTarget {
  public:
    /// `document` is of an ONNX file: see onnxForm(). `inputs`: one for each of the graph's inputs.
    EngineTarget(std::shared_ptr<const document::Document> document, std::vector<tensor::Value> inputs,
                 EngineOptions options);

    const std::vector<graph::NodeId>& matched() const override { return m_matched; }
    /// Without `given` the file itself is run, else the graph as it was read.
    base::Result<Values> run(const Values& given, std::span<const graph::NodeId> wanted,
                             const base::WorkContext& work) override;

    const std::string& version() const { return m_version; }  ///< of the library, after the first run

  private:
    base::Result<Values> runFile(std::span<const graph::NodeId> wanted, const base::WorkContext& work);
    base::Result<Values> runGraph(const Values& given, std::span<const graph::NodeId> wanted,
                                  const base::WorkContext& work);

    std::shared_ptr<const document::Document> m_document;
    std::vector<tensor::Value> m_inputs;
    EngineOptions m_options;
    std::vector<graph::NodeId> m_matched;
    std::string m_version;
};

/// A document as ONNX Runtime can run it: itself if it is an ONNX file's (unless it has edits that the file has
/// not), else what `sonde save` would write, in `folder`, opened again; nodes keep their names. `inputs` become those
/// of that form. Errors: those of exporting::writeExport() and of document::open().
base::Result<std::shared_ptr<const document::Document>> onnxForm(
    const std::shared_ptr<const document::Document>& document, const std::vector<tensor::Value>& inputs,
    const std::filesystem::path& folder, bool hasEdits, const base::WorkContext& work = {});

}  // namespace sonde::ort
