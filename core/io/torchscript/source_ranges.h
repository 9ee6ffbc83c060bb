#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"

namespace sonde::io::script {

/// Where a piece of an archive's code comes from: a file ….py.debug_pkl (torch/csrc/jit/serialization/
/// source_range_serialization.cpp). It holds records (offset in the .py, range), each valid up to the next one's
/// offset; a range is a text with its file, the text's first line, and the part of the text that is meant. In the newer
/// form texts are lists of numbers into a table of strings, in the older one they are in each record.
class SourceRanges {
  public:
    /// `pickle` is the record's content. Errors: what no such file can be.
    static base::Result<SourceRanges> read(std::span<const std::byte> pickle, std::string_view place);

    struct Place {
        std::string_view file;  ///< "own_models.py"; empty: nothing is known
        int line = 0;
        std::string_view text;  ///< the expression itself in scripted code: "x.sum() > 0"
        /// Of traced code: Python's stack at that place, a line "file(line): function" for each call, innermost first.
        std::string_view stack;
    };
    /// For a byte of the .py.
    Place at(std::size_t offset) const;
    std::size_t size() const { return m_records.size(); }

  private:
    struct Record {
        std::uint32_t offset = 0;
        std::uint32_t text = 0;  ///< index into m_texts
        std::uint32_t file = 0;  ///< index into m_files
        std::int32_t firstLine = 0;
        std::uint32_t start = 0;
        std::uint32_t end = 0;
    };

    std::vector<Record> m_records;  ///< by offset
    std::vector<std::string> m_texts;
    std::vector<std::string> m_files;
};

/// The model's own source after one file of an archive. Its record is read when it is first asked for: in a traced
/// model that would be the largest part of opening it, and few of the places are ever looked at. Thread-safe.
class SourceMap {
  public:
    using Reader = std::function<base::Result<SourceRanges>()>;
    /// `file` is the archive's own file ("code/__torch__/own_models.py"); no reader: the archive has no such record.
    SourceMap(std::string file, Reader reader) : m_file(std::move(file)), m_reader(std::move(reader)) {}

    const std::string& file() const { return m_file; }
    /// As SourceRanges::at; nothing if there is no record or it cannot be read.
    SourceRanges::Place at(std::size_t offset) const;
    /// Why the record cannot be read; empty if it can, or if nobody has asked for a place yet.
    std::string problem() const;

  private:
    void readOnce() const;

    std::string m_file;
    Reader m_reader;
    mutable std::once_flag m_once;
    mutable std::atomic<bool> m_isRead = false;
    mutable std::optional<SourceRanges> m_ranges;
    mutable std::string m_problem;
};

}  // namespace sonde::io::script
