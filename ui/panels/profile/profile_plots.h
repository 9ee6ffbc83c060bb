#pragma once

#include <QWidget>

#include <functional>
#include <memory>

#include "core/analysis/profile/run_profile.h"

namespace sonde::panels {

/// A picture of a profile: the mouse names what is under it, a click tells the operation, or the call of a module.
class ProfilePlot : public QWidget {
    Q_OBJECT
  public:
    explicit ProfilePlot(const QString& name, QWidget* parent = nullptr);

    virtual void setProfile(std::shared_ptr<const analysis::RunProfile> profile);
    void setSelected(graph::ExprId expr);
    /// Where an operation is drawn; none: it is not.
    virtual QPointF positionOf(graph::ExprId expr) const = 0;
    virtual graph::ExprId exprAt(QPointF pixel) const = 0;
    /// Of a place without an operation of its own; none: it is of no module either.
    virtual graph::ScopeId scopeAt(QPointF) const { return {}; }
    /// What is told of a place, in lines of plain text.
    virtual QString factsAt(QPointF pixel) const = 0;

    QSize sizeHint() const override { return {400, 170}; }
    QSize minimumSizeHint() const override { return {160, 90}; }

  Q_SIGNALS:
    void chosen(sonde::graph::ExprId expr);
    void moduleChosen(sonde::graph::ScopeId call);

  protected:
    bool event(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    virtual void paint(QPainter& painter) = 0;
    /// With room for the texts of the axes.
    virtual QRectF plotRect() const;
    void paintTick(QPainter& painter, QPointF at, const QString& text, bool isBelow) const;

    std::shared_ptr<const analysis::RunProfile> m_profile;
    graph::ExprId m_selected;
};

/// What the run had in memory, over its time, with the peak marked.
class MemoryPlot : public ProfilePlot {
    Q_OBJECT
  public:
    using ProfilePlot::ProfilePlot;
    QPointF positionOf(graph::ExprId expr) const override;
    graph::ExprId exprAt(QPointF pixel) const override;
    QString factsAt(QPointF pixel) const override;

  protected:
    void paint(QPainter& painter) override;

  private:
    double xOf(std::int64_t ns) const;
    double yOf(double bytes) const;
    std::int64_t nsOf(double x) const;
};

/// FLOP/s that operations reach over their FLOPs by byte, both axes logarithmic, below what the machine reaches.
class RooflinePlot : public ProfilePlot {
    Q_OBJECT
  public:
    using ProfilePlot::ProfilePlot;
    void setProfile(std::shared_ptr<const analysis::RunProfile> profile) override;
    QPointF positionOf(graph::ExprId expr) const override;
    graph::ExprId exprAt(QPointF pixel) const override;
    QString factsAt(QPointF pixel) const override;
    std::size_t pointCount() const { return m_points.size(); }

  protected:
    void paint(QPainter& painter) override;

  private:
    struct Point {
        graph::ExprId expr;
        double intensity, flopRate, share;
    };
    QPointF pixelOf(double intensity, double flopRate) const;

    std::vector<Point> m_points;
    double m_fromX = -1, m_toX = 3, m_fromY = 6, m_toY = 12;  ///< powers of ten
};

/// The run as bars over its time: a row for each depth of modules and of what runs inside of operations.
class SpanPlot : public ProfilePlot {
    Q_OBJECT
  public:
    using ProfilePlot::ProfilePlot;
    void setProfile(std::shared_ptr<const analysis::RunProfile> profile) override;
    QPointF positionOf(graph::ExprId expr) const override;
    graph::ExprId exprAt(QPointF pixel) const override;
    graph::ScopeId scopeAt(QPointF pixel) const override;
    QString factsAt(QPointF pixel) const override;

  protected:
    /// As wide as the widget: there is no axis at the left.
    QRectF plotRect() const override;
    void paint(QPainter& painter) override;
    void wheelEvent(QWheelEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

  private:
    QRectF rectOf(const analysis::ProfileSpan& span) const;
    const analysis::ProfileSpan* spanAt(QPointF pixel) const;

    std::uint32_t m_rows = 1;
    double m_fromNs = 0, m_toNs = 1;
};

}  // namespace sonde::panels
