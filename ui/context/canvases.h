#pragma once

#include <QObject>
#include <QString>

#include <array>

#include "ui/context/canvas_state.h"

namespace sonde::context {

/// The canvases of a window: up to two on one model, each with its own view, focus and hidden operations. The active
/// one is where the user worked last; menus are about that. Belongs to the UI thread.
class Canvases : public QObject {
    Q_OBJECT
  public:
    Canvases(OpenModel& model, Navigation& navigation, Messages& messages);

    static constexpr int kCount = 2;
    CanvasState& at(int number) { return m_states[static_cast<std::size_t>(number)]; }
    const CanvasState& at(int number) const { return m_states[static_cast<std::size_t>(number)]; }
    CanvasState& active() { return at(m_active); }
    const CanvasState& active() const { return at(m_active); }
    int activeNumber() const { return m_active; }
    /// How the window shows both: "beside", "stacked"; empty: it has one.
    const QString& split() const { return m_split; }
    /// By the window.
    void setSplit(const QString& split);
    /// As a session file has it: splitRequested(), unless the window is split.
    void restoreSplit(const QString& split);

  public Q_SLOTS:
    void setActive(int number);
    /// The other canvas begins with the view of the active one.
    void copyToOther();

  Q_SIGNALS:
    void activeCanvasChanged(int number);
    /// Of one of them: what is to be drawn is other than before.
    void viewChanged();
    void focusChanged();
    /// What is remembered of the views is other than before. Before viewChanged().
    void viewsChanged();
    /// Both are to be shown, each with its own view.
    void splitRequested(const QString& split);

  private:
    std::array<CanvasState, kCount> m_states;
    int m_active = 0;
    QString m_split;
};

}  // namespace sonde::context
