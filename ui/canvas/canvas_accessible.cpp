#include "ui/canvas/canvas_accessible.h"

#include <QAccessibleWidget>
#include <QPointer>

#include <algorithm>
#include <unordered_map>

#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/item_text.h"

namespace sonde::canvas {

namespace {

using layout::ItemId;

/// One item of a scene. Not valid any more once the canvas shows another scene.
class AccessibleItem : public QAccessibleInterface, public QAccessibleActionInterface {
  public:
    AccessibleItem(GraphCanvas* canvas, std::shared_ptr<const layout::SceneLayout> scene, ItemId item)
        : m_canvas(canvas), m_scene(std::move(scene)), m_item(item) {}

    ItemId item() const { return m_item; }
    bool isValid() const override { return m_canvas && m_canvas->scene() == m_scene; }
    QObject* object() const override { return nullptr; }
    QWindow* window() const override { return m_canvas ? m_canvas->window()->windowHandle() : nullptr; }
    QAccessibleInterface* parent() const override {
        return m_canvas ? QAccessible::queryAccessibleInterface(m_canvas) : nullptr;
    }
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QAccessible::Role role() const override { return QAccessible::TreeItem; }

    QRect rect() const override {
        if (!isValid()) return {};
        const QRect place = m_canvas->itemRect(m_item).toAlignedRect();
        return {m_canvas->mapToGlobal(place.topLeft()), place.size()};
    }
    QString text(QAccessible::Text which) const override {
        if (!isValid()) return {};
        switch (which) {
            case QAccessible::Name: return m_canvas->spokenItem(m_item);
            case QAccessible::Description: return m_canvas->factsOf(m_item);
            default: return {};
        }
    }
    void setText(QAccessible::Text, const QString&) override {}

    QAccessible::State state() const override {
        QAccessible::State state;
        if (!isValid()) {
            state.invalid = true;
            return state;
        }
        const layout::ItemDescription& what = m_scene->item(m_item).what;
        const bool current = m_canvas->currentItem() == m_item;
        state.selectable = state.focusable = true;
        state.selected = current;
        state.focused = current && m_canvas->hasFocus();
        state.expandable = what.expandable;
        state.expanded = what.expandable && what.open;
        state.collapsed = what.expandable && !what.open;
        state.offscreen = !QRectF(m_canvas->rect()).intersects(m_canvas->itemRect(m_item));
        return state;
    }

    void* interface_cast(QAccessible::InterfaceType type) override {
        return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this) : nullptr;
    }
    QStringList actionNames() const override {
        QStringList names{setFocusAction(), pressAction()};
        if (isValid() && m_scene->item(m_item).what.expandable) names << toggleAction();
        return names;
    }
    void doAction(const QString& name) override {
        if (!isValid()) return;
        m_canvas->setCurrentItem(m_item);
        if (name == setFocusAction()) m_canvas->setFocus(Qt::OtherFocusReason);
        if (name == toggleAction()) m_canvas->toggleCurrent();
    }
    QStringList keyBindingsForAction(const QString&) const override { return {}; }

  private:
    QPointer<GraphCanvas> m_canvas;
    std::shared_ptr<const layout::SceneLayout> m_scene;
    ItemId m_item;
};

class AccessibleCanvas : public QAccessibleWidget {
  public:
    explicit AccessibleCanvas(GraphCanvas* canvas)
        : QAccessibleWidget(canvas, QAccessible::Tree, canvas->accessibleName()) {}
    ~AccessibleCanvas() override { forget(); }

    int childCount() const override { return static_cast<int>(shown().size()); }
    QAccessibleInterface* child(int index) const override {
        const std::vector<ItemId> items = shown();
        return index >= 0 && index < static_cast<int>(items.size()) ? ofItem(items[static_cast<std::size_t>(index)])
                                                                    : nullptr;
    }
    int indexOfChild(const QAccessibleInterface* child) const override {
        const auto* item = dynamic_cast<const AccessibleItem*>(child);
        if (!item || !item->isValid()) return -1;
        const std::vector<ItemId> items = shown();
        const auto found = std::find(items.begin(), items.end(), item->item());
        return found == items.end() ? -1 : static_cast<int>(found - items.begin());
    }
    QAccessibleInterface* childAt(int x, int y) const override {
        const ItemId item = canvas()->itemAt(canvas()->mapFromGlobal(QPoint(x, y)));
        return item ? ofItem(item) : nullptr;
    }
    QAccessibleInterface* focusChild() const override {
        if (!canvas()->hasFocus()) return nullptr;
        const ItemId current = canvas()->currentItem();
        return current ? ofItem(current) : const_cast<AccessibleCanvas*>(this);
    }
    QString text(QAccessible::Text which) const override {
        if (which == QAccessible::Description) {
            const QString current = canvas()->spokenCurrent(), hidden = canvas()->hiddenText();
            return current.isEmpty() ? hidden : current;
        }
        return QAccessibleWidget::text(which);
    }

  private:
    GraphCanvas* canvas() const { return static_cast<GraphCanvas*>(widget()); }
    std::vector<ItemId> shown() const { return canvas()->visibleItems(); }

    QAccessibleInterface* ofItem(ItemId item) const {
        const auto scene = canvas()->scene();
        if (scene != m_scene) {
            forget();
            m_scene = scene;
        }
        const auto found = m_ids.find(item.value);
        if (found != m_ids.end()) return QAccessible::accessibleInterface(found->second);
        auto* made = new AccessibleItem(canvas(), scene, item);
        m_ids[item.value] = QAccessible::registerAccessibleInterface(made);
        return made;
    }
    void forget() const {
        for (const auto& [item, id] : m_ids) QAccessible::deleteAccessibleInterface(id);
        m_ids.clear();
    }

    mutable std::shared_ptr<const layout::SceneLayout> m_scene;
    mutable std::unordered_map<std::uint32_t, QAccessible::Id> m_ids;
};

QAccessibleInterface* make(const QString&, QObject* object) {
    auto* canvas = qobject_cast<GraphCanvas*>(object);
    return canvas ? new AccessibleCanvas(canvas) : nullptr;
}

}  // namespace

void installCanvasAccessibility() {
    static const bool installed = (QAccessible::installFactory(make), true);
    Q_UNUSED(installed);
}

}  // namespace sonde::canvas
