#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde::session::debug {

/// What is left of a command line, word by word.
class Words {
  public:
    explicit Words(std::string_view line) : m_line(line) { skip(); }

    bool atEnd() const { return m_at >= m_line.size(); }
    /// Of what is left, in code points from 1.
    std::size_t column() const;
    std::string_view rest() const;
    /// Up to the next blank, but for those in backticks.
    std::string_view next();
    /// The next word if it is this one.
    bool takes(std::string_view word);

  private:
    void skip();

    std::string_view m_line;
    std::size_t m_at = 0;
};

/// A name without its backticks.
std::string unquoted(std::string_view word);

}  // namespace sonde::session::debug
