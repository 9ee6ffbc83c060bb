#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/io/dump/name_options.h"

namespace sonde::io::dump {

/// A dump (dump.md, "File"): "mgbtest0" and the number of test cases (4 bytes, little endian) if there are any; the
/// graph section; one section for each case with its inputs in the order of their names, expected outputs included.
/// Each section is "SONDEGR1", the length of its header (8 bytes, little endian), the header (JSON), padding to a
/// multiple of 64 counted from the file's beginning, and the tensors' bytes, each padded so: they are read where they
/// lie.
inline constexpr std::string_view kTestMagic = "mgbtest0";
inline constexpr std::string_view kSectionMagic = "SONDEGR1";
inline constexpr int kModelVersion = 2;
/// An attribute of inputs, 1: operations were written for the sizes of the input's type, and take no other ones.
inline constexpr std::string_view kFixedSizes = "fixed_sizes";

/// MegEngine's names of the forms of a graph section. In FBS, the older one, the header's version is 1 whatever
/// WriteOptions::modelVersion is.
enum class DumpFormat { FbsV2, Fbs };
std::string_view nameOf(DumpFormat format);  ///< "FBS_V2", "FBS"
/// Error (Usage): a name of no format.
base::Result<DumpFormat> dumpFormatFrom(std::string_view name);

/// Error (Usage): a version of FBS_V2 that is not known. FBS has one of its own, whatever is asked for.
base::Result<void> checkModelVersion(DumpFormat format, int version);

struct Metadata {
    std::string userInfo;                          ///< any bytes; JSON is kept as its text
    std::optional<std::uint64_t> optimizeOptions;  ///< of graphs that were optimised: what was requested
    /// What was done, in order: names of options and the number of operations that each changed.
    std::vector<std::pair<std::string, std::size_t>> applied = {};
    std::string compatibleWith = {};  ///< an older version of the reader that the file is meant for; may be empty
};
/// Adds what was done to a graph for inference to what was done before (InferenceOptions::bothBits); counts of one name
/// are added up.
void addOptimisation(Metadata& metadata, std::uint64_t options,
                     const std::vector<std::pair<std::string, std::size_t>>& applied);
/// For people: texts as they are, other bytes as "0x00ff…".
std::string userInfoText(const Metadata& metadata);

/// One test case: inputs by name.
using TestCase = std::vector<std::pair<std::string, tensor::Tensor>>;

struct DumpFile {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<std::string> outputNames;
    std::optional<Metadata> metadata;
    std::vector<TestCase> cases;
    /// What the graph does otherwise than the model: checks that it has no form of. After reading: what was odd in the
    /// file. Not written.
    base::Diagnostics notes;
    DumpFormat format = DumpFormat::FbsV2;
    int modelVersion = kModelVersion;  ///< after reading
    /// After reading: priorities of operations, by the name of their first output; empty if the file keeps none.
    std::vector<std::pair<std::string, std::int64_t>> priorities = {};
};

struct WriteInfo {
    std::uint64_t totalBytes = 0;
    std::uint64_t tensorBytes = 0;
    std::uint64_t contentHash = 0;  ///< FNV-1a of the graph section's header and tensors
};

struct WriteOptions {
    NameOptions names;
    int modelVersion = kModelVersion;
    bool append = false;  ///< after what the file holds; streams take no notice
};

/// Errors (Usage): a graph that cannot be written, two outputs of one name, a version that is not known; (Run) the file
/// cannot be written.
base::Result<WriteInfo> writeDump(const std::filesystem::path& path, const DumpFile& dump,
                                  const WriteOptions& options = {});
/// Writes at the stream's position; a stream that has none, such as a pipe, is taken to be at its beginning. Errors:
/// the same.
base::Result<WriteInfo> writeDump(std::ostream& stream, const DumpFile& dump, const WriteOptions& options = {});
/// Reads the dump that begins at `offset`; `end` (if not null) is set after it. Errors: what is wrong; the file may
/// hold anything.
base::Result<DumpFile> readDump(const std::filesystem::path& path, std::uint64_t offset = 0,
                                std::uint64_t* end = nullptr);
/// Reads the dump that begins at the stream's position, and leaves the stream after it if it can be moved. The whole
/// rest of the stream is held in memory. Errors: the same.
base::Result<DumpFile> readDump(std::istream& stream);
bool looksLikeDump(std::span<const std::byte> head);

}  // namespace sonde::io::dump
