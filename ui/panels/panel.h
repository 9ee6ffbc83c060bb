#pragma once

#include <QWidget>

namespace sonde::panels {

/// The widget of a dock. It says whether there is anything to see in it; when it comes and goes is the window's.
class Panel : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;

    /// Whether it shows anything, other than a text that says why there is nothing.
    bool hasContent() const { return m_hasContent; }

  Q_SIGNALS:
    void hasContentChanged(bool has);

  protected:
    /// By the panel, whenever it fills or empties.
    void setHasContent(bool has) {
        if (has == m_hasContent) return;
        m_hasContent = has;
        Q_EMIT hasContentChanged(has);
    }

  private:
    bool m_hasContent = false;
};

}  // namespace sonde::panels
