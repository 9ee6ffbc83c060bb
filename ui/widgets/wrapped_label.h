#pragma once

#include <QLabel>

namespace sonde::widgets {

/// Plain text that breaks into lines. A word that is wider than a line, as the name of a node, is shortened with "…" in
/// its middle; then the tool tip has the whole text.
class WrappedLabel : public QLabel {
    Q_OBJECT
  public:
    explicit WrappedLabel(QWidget* parent = nullptr);

    QString wholeText() const { return m_whole; }
    void setWholeText(const QString& text);

    QSize minimumSizeHint() const override { return {0, fontMetrics().lineSpacing()}; }

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fit();

    QString m_whole;
};

}  // namespace sonde::widgets
