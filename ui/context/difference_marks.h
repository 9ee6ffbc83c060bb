#pragma once

#include <QObject>
#include <QString>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/graph/ids.h"

namespace sonde::context {

/// What is other in this model than in the one beside it, for its canvases. Belongs to the UI thread.
class DifferenceMarks : public QObject {
    Q_OBJECT
  public:
    enum class Kind : std::uint8_t { Removed, Added, Changed, Moved, OtherWeights };
    struct Mark {
        graph::ExprId expr;
        Kind kind = Kind::Changed;
        QString text;  ///< what a tool tip says: "strides: [2, 2] -> [1, 1]"
        bool operator==(const Mark&) const = default;
    };
    using List = std::vector<Mark>;

    const List& all() const { return m_all; }
    void set(List marks) {
        if (marks == m_all) return;
        m_all = std::move(marks);
        Q_EMIT changed();
    }

  Q_SIGNALS:
    void changed();

  private:
    List m_all;
};

}  // namespace sonde::context
