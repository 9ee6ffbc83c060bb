#pragma once

#include <QString>

#include <cstddef>

#include "core/session/edits/edits.h"

namespace sonde::context {

/// Which edits something was computed with, to be told beside it.
class UsedEdits {
  public:
    UsedEdits() = default;
    /// Those that are switched on.
    explicit UsedEdits(const session::Edits& edits);

    /// Whether it would be computed with others now.
    bool areOthers(const session::Edits& now) const;
    /// "with 2 edits", "with 2 edits, changed since then", "without the present edits"; empty without any, then and
    /// now.
    QString text(const session::Edits& now) const;
    /// The same of what says itself which edits it has: only that others count now.
    QString changedText(const session::Edits& now) const;

  private:
    std::size_t m_count = 0;
    std::size_t m_number = 0;  ///< session::Edits::number()
};

}  // namespace sonde::context
