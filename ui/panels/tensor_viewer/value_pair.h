#pragma once

#include <QTimer>
#include <QWidget>

#include <optional>

#include "core/session/debug/value_change.h"
#include "core/tensor/value.h"
#include "ui/context/job.h"

class QButtonGroup;
class QSplitter;
class QVBoxLayout;

namespace sonde::widgets {
class ElidedLabel;
class EmptyState;
}  // namespace sonde::widgets

namespace sonde::panels {

class TensorViewer;

/// One value, or two beside each other that are looked at in the same way: view, slice, range and zoom of one are those
/// of the other.
class ValuePair : public QWidget {
    Q_OBJECT
  public:
    enum class Mode { SideBySide, Blink, Difference };

    explicit ValuePair(QWidget* parent = nullptr);
    ~ValuePair() override;

    TensorViewer* first() const { return m_first; }
    TensorViewer* second() const { return m_second; }
    bool hasSecond() const { return m_hasSecond; }
    Mode mode() const { return m_mode; }
    /// Both panes, without the controls above them.
    QWidget* panes() const;
    /// Which of both is seen while they blink.
    bool showsSecond() const { return m_showsSecond; }
    /// Below: "differs by up to 5 in 1 of 4 elements".
    QString differenceText() const;

    /// The title of the first pane is seen while there are two. `value`: null if there is none, for the reason that
    /// `missing` says. `incomparable`: why a difference of both would mean nothing; empty if it means something.
    void setSecond(const QString& firstTitle, const QString& title, const QString& key, const tensor::Value* value,
                   const QString& missing, const QString& incomparable = {});
    /// Why both have no difference, so that they are side by side in its mode; empty if they have one.
    const QString& incomparable() const { return m_incomparable; }
    void clearSecond();
    /// Where there is little height the controls take one row each, so that the values are seen without scrolling.
    void setCompact(bool compact);

    QSize minimumSizeHint() const override;

  public Q_SLOTS:
    void setMode(sonde::panels::ValuePair::Mode mode);
    /// The other one of both, while they blink.
    void blink();

  Q_SIGNALS:
    void modeChanged();

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

  private:
    QWidget* makePane(TensorViewer* viewer, widgets::ElidedLabel* title);
    void buildModes();
    void lock(TensorViewer* from);
    void share();
    void arrange();
    void orient();
    void compute();

    struct Outcome {
        base::Result<tensor::Value> difference;
        std::optional<session::debug::ValueChange> change;
    };

    QSplitter* m_splitter;
    TensorViewer* m_first;
    TensorViewer* m_second;
    TensorViewer* m_apart;  ///< the difference
    widgets::ElidedLabel *m_firstTitle, *m_secondTitle, *m_apartTitle;
    QWidget *m_firstPane, *m_secondPane, *m_apartPane;
    QWidget* m_modes;
    QWidget* m_shared;  ///< the controls of the first pane, while there are two
    QVBoxLayout* m_sharedColumn;
    QWidget* m_legend;  ///< below both: what the first pane says of its overlay
    QVBoxLayout* m_legendColumn;
    QButtonGroup* m_buttons;
    widgets::ElidedLabel* m_difference;
    QTimer m_blink;
    context::Job m_job;
    Mode m_mode = Mode::SideBySide;
    bool m_hasSecond = false, m_showsSecond = false, m_isLocking = false;
    QString m_key, m_incomparable;
    tensor::Value m_other;
};

}  // namespace sonde::panels
