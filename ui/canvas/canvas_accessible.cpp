#include "ui/canvas/canvas_accessible.h"

#include <QAccessibleWidget>
#include <QPointer>
#include <QWidget>

#include <algorithm>
#include <unordered_map>

namespace sonde::canvas {

namespace {

using layout::ItemId;

/// What the accessible objects of a canvas are made of. Not to be used once the widget is gone.
struct Spoken {
    QPointer<QWidget> widget;
    const CanvasView* view;
    const CanvasText* text;
    CanvasNavigation* navigation;
};

/// One item of a scene. Not valid any more once the canvas shows another scene.
class AccessibleItem : public QAccessibleInterface, public QAccessibleActionInterface {
  public:
    AccessibleItem(const Spoken& canvas, std::shared_ptr<const layout::SceneLayout> scene, ItemId item)
        : m_canvas(canvas), m_scene(std::move(scene)), m_item(item) {}

    ItemId item() const { return m_item; }
    bool isValid() const override { return m_canvas.widget && m_canvas.view->scene() == m_scene; }
    QObject* object() const override { return nullptr; }
    QWindow* window() const override { return m_canvas.widget ? m_canvas.widget->window()->windowHandle() : nullptr; }
    QAccessibleInterface* parent() const override {
        return m_canvas.widget ? QAccessible::queryAccessibleInterface(m_canvas.widget) : nullptr;
    }
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QAccessible::Role role() const override { return QAccessible::TreeItem; }

    QRect rect() const override {
        if (!isValid()) return {};
        const QRect place = m_canvas.view->itemRect(m_item).toAlignedRect();
        return {m_canvas.widget->mapToGlobal(place.topLeft()), place.size()};
    }
    QString text(QAccessible::Text which) const override {
        if (!isValid()) return {};
        switch (which) {
            case QAccessible::Name: return m_canvas.text->spoken(m_item);
            case QAccessible::Description: return m_canvas.text->facts(m_item);
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
        const bool current = m_canvas.view->currentItem() == m_item;
        state.selectable = state.focusable = true;
        state.selected = current;
        state.focused = current && m_canvas.widget->hasFocus();
        state.expandable = what.expandable;
        state.expanded = what.expandable && what.open;
        state.collapsed = what.expandable && !what.open;
        state.offscreen = !QRectF(m_canvas.widget->rect()).intersects(m_canvas.view->itemRect(m_item));
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
        m_canvas.navigation->goTo(m_item);
        if (name == setFocusAction()) m_canvas.widget->setFocus(Qt::OtherFocusReason);
        if (name == toggleAction()) m_canvas.navigation->toggleCurrent();
    }
    QStringList keyBindingsForAction(const QString&) const override { return {}; }

  private:
    Spoken m_canvas;
    std::shared_ptr<const layout::SceneLayout> m_scene;
    ItemId m_item;
};

class AccessibleCanvas : public QAccessibleWidget {
  public:
    explicit AccessibleCanvas(const Spoken& canvas)
        : QAccessibleWidget(canvas.widget, QAccessible::Tree, canvas.widget->accessibleName()), m_canvas(canvas) {}
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
        const ItemId item = m_canvas.view->itemAt(widget()->mapFromGlobal(QPoint(x, y)));
        return item ? ofItem(item) : nullptr;
    }
    QAccessibleInterface* focusChild() const override {
        if (!widget()->hasFocus()) return nullptr;
        const ItemId current = m_canvas.view->currentItem();
        return current ? ofItem(current) : const_cast<AccessibleCanvas*>(this);
    }
    QString text(QAccessible::Text which) const override {
        if (which == QAccessible::Description) {
            const QString current = m_canvas.text->spoken(m_canvas.view->currentItem()),
                          hidden = m_canvas.text->hidden();
            return current.isEmpty() ? hidden : current;
        }
        return QAccessibleWidget::text(which);
    }

  private:
    std::vector<ItemId> shown() const { return m_canvas.view->visibleItems(); }

    QAccessibleInterface* ofItem(ItemId item) const {
        const auto scene = m_canvas.view->scene();
        if (scene != m_scene) {
            forget();
            m_scene = scene;
        }
        const auto found = m_ids.find(item.value);
        if (found != m_ids.end()) return QAccessible::accessibleInterface(found->second);
        auto* made = new AccessibleItem(m_canvas, scene, item);
        m_ids[item.value] = QAccessible::registerAccessibleInterface(made);
        return made;
    }
    void forget() const {
        for (const auto& [item, id] : m_ids) QAccessible::deleteAccessibleInterface(id);
        m_ids.clear();
    }

    Spoken m_canvas;
    mutable std::shared_ptr<const layout::SceneLayout> m_scene;
    mutable std::unordered_map<std::uint32_t, QAccessible::Id> m_ids;
};

}  // namespace

QAccessibleInterface* makeAccessibleCanvas(QWidget& canvas, const CanvasView& view, const CanvasText& text,
                                           CanvasNavigation& navigation) {
    return new AccessibleCanvas({&canvas, &view, &text, &navigation});
}

void announceCurrent(QWidget& canvas, const CanvasView& view, const CanvasText& text) {
    canvas.setAccessibleDescription(text.spoken(view.currentItem()));
    QAccessibleEvent event(&canvas, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    if (!QAccessible::isActive() || !canvas.hasFocus() || !view.currentItem()) return;
    // The screen reader's own focus follows the keyboard.
    const std::vector<ItemId> shown = view.visibleItems();
    const auto at = std::find(shown.begin(), shown.end(), view.currentItem());
    QAccessibleEvent focus(&canvas, QAccessible::Focus);
    if (at != shown.end()) focus.setChild(static_cast<int>(at - shown.begin()));
    QAccessible::updateAccessibility(&focus);
}

}  // namespace sonde::canvas
