#pragma once

#include <memory>
#include <string>

namespace sonde::graph {

/// Where in the model's own source an operation comes from.
struct SourcePlace {
    std::string file;  ///< empty: not known
    int line = 0;
    std::string stack;         ///< a stack trace, innermost line last; may be empty
    std::string problem;       ///< why no more is known: the file's record of its sources is damaged. Mostly empty
    std::string text() const;  ///< "resnet.py:102"
};

/// Knows a place without having it at hand: a file's records of sources are large, and most are never asked for.
class SourceRecord {
  public:
    virtual ~SourceRecord() = default;
    virtual SourcePlace place() const = 0;  ///< thread-safe
};

/// The source of an operation, if its file says. Copies share what they know.
class Source {
  public:
    Source() = default;  ///< nothing is known
    explicit Source(std::shared_ptr<const SourceRecord> record) : m_record(std::move(record)) {}
    explicit Source(SourcePlace place);
    bool empty() const { return !m_record; }
    /// May read the model's file, so ask once and keep what it gives.
    SourcePlace place() const { return m_record ? m_record->place() : SourcePlace{}; }
    std::string text() const { return place().text(); }

  private:
    std::shared_ptr<const SourceRecord> m_record;
};

}  // namespace sonde::graph
