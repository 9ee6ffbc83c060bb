#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Layouts already made, by the structural key of their graph: in memory, and Graphviz's also on disk, so that a model
/// opens with its pictures ready the next time. Thread-safe. Never fails: an unreadable, damaged or unwritable file is
/// as good as none.
class LayoutCache {
  public:
    struct Options {
        /// Empty: $XDG_CACHE_HOME/sonde/layout, or ~/.cache/sonde/layout; see also `useDisk`.
        std::filesystem::path folder;
        bool useDisk = true;
        std::size_t memoryBytes = std::size_t{64} << 20;
        std::uint64_t diskBytes = std::uint64_t{128} << 20;  ///< the oldest files are removed above this
    };
    struct Counts {
        std::size_t memoryHits = 0;
        std::size_t diskHits = 0;
        std::size_t misses = 0;
    };

    LayoutCache();
    explicit LayoutCache(Options options);
    ~LayoutCache();
    LayoutCache(const LayoutCache&) = delete;
    LayoutCache& operator=(const LayoutCache&) = delete;

    /// The layout stored for `key`, or null. `graph` is what it must fit: a file that does not is ignored.
    std::shared_ptr<const BoxLayout> find(const LayoutKey& key, const BoxGraph& graph);
    std::shared_ptr<const BoxLayout> insert(const LayoutKey& key, BoxLayout layout);

    Counts counts() const;
    const std::filesystem::path& folder() const;  ///< empty if nothing is kept on disk
    void clearMemory();

  private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace sonde::layout
