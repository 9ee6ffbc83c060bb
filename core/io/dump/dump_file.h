#pragma once

#include <cstdint>
#include <filesystem>
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

struct Metadata {
    std::string userInfo;
    std::optional<std::uint64_t> optimizeOptions;  ///< of graphs that were optimised
};

/// One test case: inputs by name.
using TestCase = std::vector<std::pair<std::string, tensor::Tensor>>;

struct DumpFile {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<std::string> outputNames;
    std::optional<Metadata> metadata;
    std::vector<TestCase> cases;
    base::Diagnostics
        notes;  ///< what the graph does otherwise than the model: checks that it has no form of; not written
};

struct WriteInfo {
    std::uint64_t totalBytes = 0;
    std::uint64_t tensorBytes = 0;
    std::uint64_t contentHash = 0;  ///< FNV-1a of the graph section's header and tensors
};

struct WriteOptions {
    NameOptions names;
    int modelVersion = kModelVersion;
    bool append = false;  ///< after what the file holds
};

/// Errors (Usage): a graph that cannot be written, two outputs of one name; (Run) the file cannot be written.
base::Result<WriteInfo> writeDump(const std::filesystem::path& path, const DumpFile& dump,
                                  const WriteOptions& options = {});
/// Reads the dump that begins at `offset`; `end` (if not null) is set after it. Errors: what is wrong; the file may
/// hold anything.
base::Result<DumpFile> readDump(const std::filesystem::path& path, std::uint64_t offset = 0,
                                std::uint64_t* end = nullptr);
bool looksLikeDump(std::span<const std::byte> head);

}  // namespace sonde::io::dump
