#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"

namespace sonde::io::script {

/// Where a piece of an archive's code comes from: a file ….py.debug_pkl (torch/csrc/jit/serialization/
/// source_range_serialization.cpp). It holds records (offset in the .py, range), each valid up to the next one's offset;
/// a range is a text with its file, the text's first line, and the part of the text that is meant. In the newer form
/// texts are lists of numbers into a table of strings, in the older one they stand in each record.
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
        std::uint32_t text = 0;      ///< index into m_texts
        std::uint32_t file = 0;      ///< index into m_files
        std::int32_t firstLine = 0;
        std::uint32_t start = 0;
        std::uint32_t end = 0;
    };

    std::vector<Record> m_records;      ///< by offset
    std::vector<std::string> m_texts;
    std::vector<std::string> m_files;
};

}  // namespace sonde::io::script
