#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/profile/run_profile.h"

namespace sonde::analysis {

/// Times of one node in a profile that may be of another run, another machine or another engine.
struct StoredNode {
    std::string name;      ///< as in the file
    std::string fileName;  ///< the model file's name of the operation; may be empty
    std::string op;
    std::int64_t count = 0;
    double selfNs = 0;  ///< of one run, where the file has several
};

struct StoredProfile {
    std::string engine;  ///< "Sonde", "ONNX Runtime"
    std::size_t runs = 1;
    double totalNs = 0;  ///< of one run
    std::vector<StoredNode> nodes;
};

/// A profile that Sonde wrote (`run --profile`, `profile --json`) or ONNX Runtime (SessionOptions::EnableProfiling: an
/// array of events, "NAME_kernel_time" for each node), recognised by content.
/// Errors (Unreadable): no JSON, with the position; neither of both; an event of a wrong type, with its path.
base::Result<StoredProfile> parseProfile(std::string_view text);
base::Result<StoredProfile> readProfile(const std::filesystem::path& path);
StoredProfile storedOf(const RunProfile& profile);

/// One line of a comparison. The second profile's node may stand for several of the first's, which its engine fused.
struct ComparedNode {
    std::vector<std::string> names;  ///< in the first profile
    std::string other;               ///< in the second; empty: it has none
    double ns = 0, otherNs = 0;

    double difference() const { return ns - otherNs; }
};

struct ProfileComparison {
    std::string engine, otherEngine;
    double totalNs = 0, otherTotalNs = 0;
    std::vector<ComparedNode> nodes;   ///< in both, largest difference (by amount) first
    std::vector<StoredNode> onlyHere;  ///< of the first, longest first
    std::vector<StoredNode> onlyThere;
    std::string text(std::size_t lines) const;  ///< a table of that many nodes, and what could not be matched
    std::string json() const;                   ///< {"format":"sonde-profile-comparison","version":1,…}
};

/// By name: the node's, else the operation's in the model file; names of ONNX Runtime also without what its optimiser
/// appends ("_nchwc", "_token_7", "/MatMulScaleFusion/") and by the value that the operation makes ("NAME_output_0").
/// With the graph, what the second engine fused is found: nodes before a matched one that no other node reads and that
/// have no time of their own there.
ProfileComparison compareProfiles(const StoredProfile& first, const StoredProfile& second,
                                  const graph::InternalGraph* graph = nullptr);

}  // namespace sonde::analysis
