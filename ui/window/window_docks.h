#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <QTimer>

#include <map>
#include <set>

#include "ui/panels/panel_info.h"

class QDockWidget;
class QMainWindow;

namespace sonde::window {

/// The panels around the graph: one dock for each row of the panel table, with its action, where the user has put it.
/// A panel that has nothing to show takes no room, unless the user opened it; one that the user closed stays closed.
class WindowDocks : public QObject {
    Q_OBJECT
  public:
    /// Adds docks to `window` and actions to `actions`. All must outlive it.
    WindowDocks(QMainWindow& window, context::InspectorContext& context, actions::ActionRegistry& actions);
    /// What is torn down is not what the window looked like: nothing is told any more.
    ~WindowDocks() override;

    /// Null if there is no such panel.
    QDockWidget* dock(const QString& panel) const;
    QWidget* panel(const QString& panel) const;
    /// What the window does for a panel.
    panels::PanelHost hostOf(const QString& panel);

    /// Shows a panel and gives it the focus, as if the user had opened it.
    void show(const QString& panel);
    /// Where panels are until the user moves them: tree and inputs left, details over values right, lists tabbed below.
    /// What the user opened and closed is forgotten.
    void arrange();
    /// The start page has the window for itself; what was docked comes back with a model.
    void setShown(bool shown);
    bool isShown() const { return m_isShown; }
    /// One panel at the right, without a title, so wide a part of the window, and nothing else; what was there comes
    /// back with setShown(true). In place of another one that is alone it is as wide as that.
    void showAlone(const QString& panel, double share);
    /// How wide that panel is in a window of such a width, as a part of it; 0 if none is alone. And makes it so wide.
    double aloneShare(int windowWidth) const;
    void setAloneShare(double share);
    /// The mouse was pressed on the graph: what comes and goes with the selection waits until a second click would no
    /// longer be part of a double click, so that it hits what the first one did.
    void holdStill() { m_pressed.start(); }
    /// No panel is about to come or go.
    bool isIdle() const { return !m_follow.isActive(); }

    /// Where the docks are, for the settings.
    QByteArray state() const;
    /// What the user opened and closed: "watches=pinned".
    QStringList wishes() const;
    void restore(const QByteArray& state, const QStringList& wishes);
    /// In a window that low two panels at the right have the columns at the sides for themselves, one at the left and
    /// one at the right, until they are given back; what the user opens meanwhile comes beside them. Nothing if one of
    /// them is elsewhere, where the user has put it.
    void lendColumns(const QString& left, const QString& right);
    void giveColumnsBack();
    bool areColumnsLent() const { return !m_displaced.empty(); }
    static constexpr int kLowHeight = 680;  ///< a window with less has not three panels one above the other, pixels
    /// In a small window the panels give way: the graph is what the window is for. Who wants them larger drags them.
    /// `asked`: the panel that is about to be in front.
    void leaveRoomForGraph(const QString& asked = {});
    /// When the window grows again: columns that gave way have their width again, as far as there is room.
    void giveWidthsBack();

  Q_SIGNALS:
    /// state() or wishes() is another.
    void changed();
    /// The panel with the keyboard has gone.
    void focusFreed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    /// What the user wants of a panel.
    struct Wish {
        bool wanted = true;   ///< there while it has content
        bool pinned = false;  ///< there also without: it was opened when it was empty
        bool operator==(const Wish&) const = default;
    };
    static Wish wishAtFirst(const panels::PanelInfo& info);
    static Wish wishFrom(const panels::PanelInfo& info, const QStringList& words);
    bool hasContent(const QString& panel) const;
    bool isDue(const QString& panel) const;
    void noteOpened(const QString& panel);
    void noteClosed(const QString& panel);
    void close(const QString& panel);

    void leaveAlone();
    void addDock(const panels::PanelInfo& info);
    void place();
    void toggle(const QString& panel);
    void contentChanged(const QString& panel);
    void follow();
    void come(const QString& panel);
    void fold(const QString& panel);
    std::vector<QString> seenIn(Qt::DockWidgetArea area) const;
    void giveSizes(Qt::DockWidgetArea area, bool isNew);
    /// In a small window, of what the user has asked for.
    void giveHeightAskedFor(const QString& panel);
    void shareLowColumn();
    void giveAllSizes();
    void bringBack(const QByteArray& state);
    static const panels::PanelInfo& infoOf(const QString& panel);
    QDockWidget* firstSeenIn(Qt::DockWidgetArea area) const;
    int lentWidth() const;
    int widthInRoom(QDockWidget& dock) const;
    void widenAgain(Qt::DockWidgetArea area, int most);
    void noteDragged(bool isBegin);

    QMainWindow& m_window;
    context::InspectorContext& m_context;
    actions::ActionRegistry& m_actions;
    std::map<QString, QDockWidget*> m_docks;
    std::map<QString, Wish> m_wishes;
    /// As the user left them: how far an area of the window comes in, and the heights of panels below each other.
    std::map<Qt::DockWidgetArea, int> m_depths;
    std::map<QString, int> m_heights;
    std::map<Qt::DockWidgetArea, int> m_narrowed;  ///< how wide columns were that are narrow for a small window
    std::map<Qt::DockWidgetArea, int> m_gripped;   ///< how wide they are while a border is dragged
    std::set<QString> m_displaced;                 ///< panels that are out of the way while the columns are lent
    QByteArray m_unlent;                           ///< how docks were before
    bool m_isRestored = false;    ///< their other sizes are those of the settings, else those of the table
    bool m_isSized = true;        ///< the sizes of the table were given to a window that was seen
    std::set<QString> m_changed;  ///< panels that filled or emptied
    QString m_front;              ///< the panel that is to be in front once all have come
    QTimer m_follow;              ///< runs while there are such
    QElapsedTimer m_pressed;      ///< since the mouse was pressed on the graph
    QByteArray m_state;           ///< while the docks are out of the way
    QDockWidget* m_alone = nullptr;
    bool m_isShown = true;
};

}  // namespace sonde::window
