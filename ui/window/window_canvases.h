#pragma once

#include <QObject>

#include <memory>
#include <vector>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

class QSplitter;

namespace sonde::canvas {
class GraphCanvas;
}

namespace sonde::window {

class FocusBar;

class LinkedCameras;

/// One or two canvases beside each other, and the bar above the one in use that tells what is left out. While another
/// model is compared, a canvas on that is beside them.
class WindowCanvases : public QObject {
    Q_OBJECT
  public:
    /// The canvases are in a splitter in `page`. All must outlive it.
    WindowCanvases(QWidget& page, context::InspectorContext& context, actions::ActionRegistry& actions);
    ~WindowCanvases() override;

    /// The canvas in use: the only one, or of two the one where the user worked last.
    canvas::GraphCanvas* active() const;
    /// The first (0) or second (1) canvas; null if there is no second.
    canvas::GraphCanvas* at(int number) const { return number == 0 ? m_first : m_second; }
    /// The one on the model that is compared; null if there is none.
    canvas::GraphCanvas* compared() const { return m_compared; }
    /// Those that there are.
    std::vector<canvas::GraphCanvas*> all() const;
    bool isSplit() const { return m_second != nullptr; }
    bool isSplit(Qt::Orientation direction) const;
    /// Nothing is being laid out, animated or painted.
    bool isIdle() const;
    FocusBar* focusBar() const { return m_focusBar; }

    /// Shows a second canvas beside or below the first, or turns the two.
    void split(Qt::Orientation direction);
    /// "beside", "stacked"; empty: there is one.
    QString splitText() const;
    /// The same, but closes the second where it is in that direction already.
    void toggleSplit(Qt::Orientation direction);
    /// Closes one of two canvases; the other stays as it is.
    void close(int number);
    /// To the canvas in use; where the focus is there, to the other.
    void focusNext();

    /// How they share the room, for the settings. restore() comes after split().
    QByteArray state() const;
    Qt::Orientation orientation() const;
    void restore(const QByteArray& state);

  Q_SIGNALS:
    /// A mouse button went down on one of them.
    void pressed();
    /// There is one more or less, they are turned, or another one is in use.
    void changed();
    /// state() is another.
    void resized();
    void layoutFinished();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    canvas::GraphCanvas* add(context::InspectorContext& context, int number);
    /// Of the canvases on the window's own model.
    canvas::GraphCanvas* activeOwn() const;
    void addCompared();
    void removeCompared();
    void setInUse(bool isCompared);
    void refreshBeside();
    void refreshTitles();
    void addSecond(Qt::Orientation direction);
    void restoreSplit(const QString& text);
    void follow();
    void moveFocusBar();

    context::InspectorContext& m_context;
    actions::ActionRegistry& m_actions;
    QSplitter* m_splitter;
    canvas::GraphCanvas* m_first;
    canvas::GraphCanvas* m_second = nullptr;    ///< only while the window is split
    canvas::GraphCanvas* m_compared = nullptr;  ///< only while another model is compared
    bool m_isComparedInUse = false;
    std::unique_ptr<LinkedCameras> m_cameras;
    FocusBar* m_focusBar;
};

}  // namespace sonde::window
