#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/base/diagnostics.h"
#include "core/base/progress.h"
#include "core/io/torchscript/pickle.h"
#include "core/io/torchscript/syntax.h"
#include "core/io/zip/zip_archive.h"

namespace sonde::io::script {

/// A TorchScript archive: its data as plain values, its sources by name. Weights are used where they are in the file.
/// Sources are parsed when they are first asked for. Not thread-safe before that.
class Archive {
  public:
    /// Errors: no archive at all; a state dict, a pickled model or the format from before 1.6, each with a hint how to
    /// export it; a damaged one.
    static base::Result<std::shared_ptr<Archive>> open(const std::filesystem::path& path);

    const tensor::Value& root() const { return m_root; }  ///< a PickledObject with the model's class
    const tensor::ValueList& constants() const { return m_constants; }
    std::int64_t version() const { return m_version; }
    std::size_t sizeBytes() const { return m_zip->file().sizeBytes(); }
    /// Every node of the archive's own graph is recorded, lists, tuples and conversions too, and none is made to look
    /// as it did in Python: what tracing without leaves shows.
    bool asWritten() const { return m_asWritten; }
    void setAsWritten(bool asWritten) { m_asWritten = asWritten; }

    /// Class or function by its full name, "__torch__.own_models.GPT"; null if the archive has none. Error: its file
    /// cannot be parsed.
    base::Result<const ClassDef*> findClass(const std::string& name);
    base::Result<const FunctionDef*> findFunction(const std::string& name);
    /// Whether its code may change something in place: a tensor, a list, a dict, an attribute. By the text, so rather
    /// too often.
    bool mayWrite() const;
    /// What was found wrong so far with the records of the model's own source.
    base::Diagnostics sourceFindings() const;

  private:
    base::Result<void> readRecords();
    base::Result<tensor::Value> readRecord(const std::string& record, const std::string& tensors);
    base::Result<const SourceUnit*> unit(const std::string& module);
    base::Error notTorchScript() const;

    std::shared_ptr<const ZipArchive> m_zip;
    std::string m_place;
    std::string m_prefix;  ///< the top folder with its slash
    std::int64_t m_version = 0;
    bool m_asWritten = false;
    tensor::Value m_root;
    tensor::ValueList m_constants;
    std::map<std::string, std::unique_ptr<SourceUnit>> m_units;  ///< by module name; null: there is no such file
};

/// Told from the first bytes and the names of the records: any of the forms that torch.save and torch.jit.save write.
bool looksLikeTorchFile(std::span<const std::byte> head, const std::filesystem::path& path);

}  // namespace sonde::io::script
