#pragma once

#include <algorithm>
#include <vector>

namespace sonde::layout {

// Plane geometry of pictures. The unit is the point of the text metrics that gave the sizes (one pixel at zoom 1);
// x grows to the right and y downwards.

struct Point {
    double x = 0;
    double y = 0;
    bool operator==(const Point&) const = default;
};

struct Size {
    double width = 0;
    double height = 0;
    bool operator==(const Size&) const = default;
};

struct Rect {
    double x = 0;  ///< left
    double y = 0;  ///< top
    double width = 0;
    double height = 0;

    double right() const { return x + width; }
    double bottom() const { return y + height; }
    Point center() const { return {x + width / 2, y + height / 2}; }
    Size size() const { return {width, height}; }
    Rect translated(Point by) const { return {x + by.x, y + by.y, width, height}; }
    bool contains(Point p) const { return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom(); }
    bool contains(const Rect& r) const {
        return r.x >= x && r.right() <= right() && r.y >= y && r.bottom() <= bottom();
    }
    /// True if the insides overlap; touching borders do not.
    bool overlaps(const Rect& r) const { return x < r.right() && r.x < right() && y < r.bottom() && r.y < bottom(); }
    bool operator==(const Rect&) const = default;
};

/// The smallest rectangle around both.
Rect united(const Rect& a, const Rect& b);

/// A curve in one piece: cubic Bézier segments that share their ends. `points` holds 3n+1 of them for n segments
/// (on-curve, control, control, on-curve, …); a straight line is a segment whose controls are at its thirds.
struct Path {
    std::vector<Point> points;

    bool empty() const { return points.size() < 4; }
    std::size_t segments() const { return points.size() < 4 ? 0 : (points.size() - 1) / 3; }
    Point start() const { return points.empty() ? Point{} : points.front(); }
    Point end() const { return points.empty() ? Point{} : points.back(); }
    /// The point at `t` in [0, 1] of segment `index`.
    Point at(std::size_t index, double t) const;
    /// The point half way along, measured by chord lengths.
    Point middle() const;
    /// Bounds of all points, controls included: never smaller than the curve.
    Rect bounds() const;

    /// Begins the path at `p`; the path must be empty.
    void moveTo(Point p);
    void lineTo(Point p);
    void curveTo(Point control1, Point control2, Point p);
    /// Continues with `next`; joined by a straight line where the ends differ.
    void append(const Path& next);
    void translate(Point by);
    void reverse() { std::reverse(points.begin(), points.end()); }
    /// Exchanges x and y.
    void transpose();
    bool operator==(const Path&) const = default;
};

/// True if the curve has a point inside the rectangle or on its border.
bool passesThrough(const Path& path, const Rect& rect);

}  // namespace sonde::layout
